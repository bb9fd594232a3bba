#pragma once

#include <chrono>

#include "support/chaos.hpp"

namespace airlock::lincheck {

// With `./dev chaos --long` longer.
inline std::chrono::seconds long_time() {
  return std::chrono::seconds(testing::takes_its_time() ? 600 : 10);
}

}  // namespace airlock::lincheck
