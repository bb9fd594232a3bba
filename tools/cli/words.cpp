#include "words.hpp"

#include <array>

namespace airlock::cli {

std::string brief(Duration duration) {
  if (duration == kForever) return "forever";
  constexpr std::array<std::int64_t, 5> kSteps = {86'400'000'000, 3'600'000'000, 60'000'000,
                                                  1'000'000, 1'000};
  for (const std::int64_t step : kSteps) {
    if (duration.count() >= 10 * step) return to_text(Duration(duration.count() / step * step));
  }
  return to_text(duration);
}

std::string counted(std::uint64_t count, const std::string& what, const char* plural) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : plural);
}

}  // namespace airlock::cli
