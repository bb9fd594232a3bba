#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace airlock::cli {

// The word that was probably meant: the nearest by letters left out, added, changed or swapped.
// Empty: none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean X?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& known);

// "a, b, c"
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

}  // namespace airlock::cli
