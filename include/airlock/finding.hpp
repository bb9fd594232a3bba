#pragma once

#include <cstdint>
#include <string>

namespace airlock {

// What Store::examine() found, in an operator's words.
struct Finding {
  enum class Level : std::uint8_t {
    good,
    warning,  // It works; under load, or when something fails, it may not.
    problem,  // Something does not work, or promises are not kept.
  };

  Level level = Level::good;
  std::string what;         // "maxmemory-policy is allkeys-lru"
  std::string remedy = {};  // What to do about it; empty where nothing is to be done.
};

[[nodiscard]] constexpr const char* to_text(Finding::Level level) noexcept {
  constexpr const char* kTexts[] = {"good", "warning", "problem"};
  return kTexts[static_cast<std::uint8_t>(level)];
}

}  // namespace airlock
