#pragma once

#include <string>
#include <string_view>

namespace airlock::server {

// The text with control characters, backslashes and what is not ASCII as \xNN, so that it cannot end the line of a log nor
// steer a terminal.
[[nodiscard]] std::string escaped(std::string_view text);

// The same between quotes, with its own quotes escaped.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace airlock::server
