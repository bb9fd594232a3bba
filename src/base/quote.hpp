#pragma once

#include <string>
#include <string_view>

namespace airlock::base {

// A value as error texts show it: in quotes, at most 40 bytes of it, anything but printable ASCII
// as \xNN.
[[nodiscard]] std::string quoted(std::string_view value);

// True if a terminal or a log line shows these bytes as they are: no control characters. UTF-8
// passes.
[[nodiscard]] bool is_printable(std::string_view text) noexcept;

}  // namespace airlock::base
