#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace airlock::server {

// A name that a certificate has, in one form for the configuration and for peers: "DNS:shop.example" (in lower case),
// "URI:spiffe://example/shop", "EMAIL:shop@example.com" or "CN=shop". Nothing for other text, and for wildcards.
[[nodiscard]] std::optional<std::string> parse_certificate_name(std::string_view text);

}  // namespace airlock::server
