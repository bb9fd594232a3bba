#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/rate.hpp"
#include "airlock/token.hpp"

namespace airlock {

// A holder of weight 1 has a slot number below its limit that no other such holder has.
using Slot = std::optional<std::uint32_t>;

struct Granted {
  Token token;
  Duration expires_in{0};  // Remaining time in the store; 0 for a rate-only admission.
  Slot slot = {};
  bool repeated = false;    // This visitor was already holding; nothing was renewed or charged.
  std::uint32_t taken = 0;  // Of the rate's cost.
  Duration delay{0};        // reserve: act after this.
  RateInfo rate = {};
};

struct Queued {
  std::uint32_t position = 0;  // 1: next to be served (arrival rank in a lottery).
  std::uint32_t waiting = 0;   // The length of the line.
  Duration next_check{0};      // When to ask again if nobody calls before.
  Duration eta{0};             // position * mean interval between grants; 0: not known.
  RateInfo rate = {};
};

enum class Reason : std::uint8_t {
  full,       // No room, or others wait for it.
  rate,       // A tier said no.
  paused,     // An operator or a health check closed the gate.
  line_full,  // max_waiting.
  late,       // The expected wait is longer than max_eta, a deadline passed, or it is not here.
  never,      // The cost is above the burst.
};
inline constexpr std::size_t kReasons = 6;

[[nodiscard]] constexpr const char* to_text(Reason reason) noexcept {
  constexpr const char* kTexts[kReasons] = {"full", "rate", "paused", "line_full", "late", "never"};
  return kTexts[static_cast<std::size_t>(reason)];
}

struct Refused {
  Reason reason = Reason::full;
  Duration retry_after{0};  // Asking before is pointless; rounded up; kForever for never.
  RateInfo rate = {};
  Duration waited{0};  // How long the caller was kept, where it was.
  std::size_t at = 0;  // Which of several gates said so.
};

using Answer = std::variant<Granted, Queued, Refused>;

// The answer to several gates of one group: all granted, or the first that said no.
struct GroupAnswer {
  std::vector<Granted> granted = {};  // As the requests were; empty unless all were granted.
  std::size_t at = 0;                 // Otherwise: which request was not,
  std::variant<std::monostate, Queued, Refused> because = {};  // and why.

  explicit operator bool() const noexcept { return because.index() == 0; }
};

}  // namespace airlock
