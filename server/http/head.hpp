#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// What a request head must look like before a parser sees it. Stricter than RFC 9112 where parsers are known to
// disagree: no folded lines, no bare LF or CR, one Host, one length, `chunked` alone. docs/server.md lists the rules.

namespace airlock::server {

inline constexpr std::size_t kMaxHead = 8'192;
inline constexpr std::size_t kMaxBody = 65'536;

struct HeadScan {
  enum class State : std::uint8_t { incomplete, complete, malformed };

  State state = State::incomplete;
  std::size_t size = 0;  // complete: of the head with its empty line. incomplete: scanned so far.
};

// Looks for the end of the head in `bytes`, of which the first `scanned` were looked at before. Malformed as soon as a
// byte cannot be part of a head.
[[nodiscard]] HeadScan scan_head(std::string_view bytes, std::size_t scanned) noexcept;

struct HeadCheck {
  int status = 0;            // 0: good. Else what to answer before the connection is closed.
  const char* rule = "";     // Which rule is broken.
  bool is_chunked = false;   // How the body ends,
  std::uint64_t length = 0;  // or how long it is.
};

// `head` is what scan_head() found complete.
[[nodiscard]] HeadCheck check_head(std::string_view head) noexcept;

// Whether the text, as in a Host field, names this machine: localhost, 127.0.0.1 or [::1], with or without a port.
[[nodiscard]] bool is_loopback_host(std::string_view host) noexcept;

}  // namespace airlock::server
