#pragma once

#include <chrono>
#include <cstdlib>

namespace airlock::lincheck {

// With `./dev chaos --long` longer.
inline std::chrono::minutes long_time() {
  const bool all = std::getenv("AIRLOCK_LONG") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  return std::chrono::minutes(all ? 10 : 1);
}

}  // namespace airlock::lincheck
