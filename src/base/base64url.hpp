#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace airlock::base {

// RFC 4648, section 5, without padding.
[[nodiscard]] std::string base64url(std::string_view bytes);

// Reads exactly what base64url() writes: no padding, no space, no bit set that carries nothing.
[[nodiscard]] std::optional<std::string> parse_base64url(std::string_view text);

}  // namespace airlock::base
