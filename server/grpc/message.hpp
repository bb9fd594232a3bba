#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The small formats of gRPC over HTTP/2.

namespace airlock::server::grpc {

inline constexpr std::size_t kMaxMessage = 65'536;
inline constexpr std::size_t kPrefix = 5;  // Of a message: whether it is compressed, and its size.

// The one message of a body. Nothing: there is none, more than one, or one that is compressed.
[[nodiscard]] std::optional<std::string_view> only_message(std::string_view body) noexcept;

[[nodiscard]] bool is_compressed(std::string_view body) noexcept;

void append_message(std::string& out, std::string_view message);

// The value of grpc-timeout: 1 to 8 digits and a unit, "250m" for 250 ms.
[[nodiscard]] std::optional<std::chrono::microseconds> parse_timeout(
    std::string_view text) noexcept;

// The value of grpc-message: % and what is not printable ASCII as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace airlock::server::grpc
