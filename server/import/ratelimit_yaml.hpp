#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

namespace airlock::server::import {

// What is wrong with a file, with its name and line.
class ImportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads a configuration of envoyproxy/ratelimit and writes it as [[descriptors]] of airlock.toml. What airlock does not have
// is left out and said in `warnings`, a line each. ImportError: the file is none of that service.
void import_yaml(const std::string& file, std::ostream& out, std::ostream& warnings);

}  // namespace airlock::server::import
