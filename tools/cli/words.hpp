#pragma once

#include <cstdint>
#include <string>

#include "airlock/duration.hpp"

// Numbers and lengths of time for people. Needs nothing of the command.

namespace airlock::cli {

// A length of time for people: two digits or so, and a unit.
[[nodiscard]] std::string brief(Duration duration);

// "1 lease", "2 leases".
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& what,
                                  const char* plural = "s");

}  // namespace airlock::cli
