#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "airlock/duration.hpp"

namespace airlock {

class Uri;

}  // namespace airlock

namespace airlock::shm {

// Where a segment is and what it is to be like if it has to be made.
struct Options {
  std::string name = "default";
  std::string dir = {};  // Empty: /dev/shm/airlock-<uid>.
  std::uint64_t size = std::uint64_t{2} << 30;
  mode_t mode = 0600;
  std::string group = {};  // Who shares it. In a URI it needs dir=, and adds 0060 to the mode.
  Duration timeout = std::chrono::seconds(1);

  // InvalidArgument says what is wrong with the URI.
  [[nodiscard]] static Options from(const Uri& uri);
};

}  // namespace airlock::shm
