#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "airlock/rate.hpp"
#include "airlock/token.hpp"

namespace airlock {

// The highest limit.
inline constexpr std::uint32_t kMaxLimit = 1U << 31;

// How much may be in use at once, and for how long one admission lasts unless renewed.
struct Permits {
  std::uint32_t limit = 0;   // What the guarded thing tolerates, all together. No default.
  std::uint32_t weight = 1;  // How much of it this visitor uses: 1 to limit.
  AnyDuration ttl = std::chrono::seconds(30);  // A holder that vanished is gone after this.
  bool exclusive = false;  // Locks: an override may lower the limit, never raise it.
};

// The longest ttl, patience, claim window and pause.
inline constexpr Duration kMaxTtl = std::chrono::hours(24 * 365);

enum class Order : std::uint8_t {
  fifo,           // By arrival.
  priority,       // Higher first, by arrival inside a priority.
  lottery,        // Everybody waiting has the same chance.
  aging_lottery,  // Tickets grow with the time waited.
};

[[nodiscard]] constexpr const char* to_text(Order order) noexcept {
  constexpr const char* kTexts[] = {"fifo", "priority", "lottery", "aging_lottery"};
  return kTexts[static_cast<std::uint8_t>(order)];
}

inline constexpr std::uint16_t kMaxPriority = 4095;

// Tickets of an aging lottery: base + per_second * seconds waited, at most max.
struct Aging {
  std::uint32_t base = 1;
  std::uint32_t per_second = 1;
  std::uint32_t max = 100;

  friend bool operator==(const Aging&, const Aging&) = default;
};

// Whether and how to wait. The order belongs to a non-empty line: asking with another is
// InvalidArgument.
struct Line {
  bool join = false;       // Queued instead of Refused when there is no room.
  bool returning = false;  // Only who is here already; anybody else is refused as `late`.
  Order order = Order::fifo;
  std::uint16_t priority = 0;     // Order::priority only; 0 to kMaxPriority.
  bool barging = false;           // May enter past the line when there is room.
  std::uint32_t max_waiting = 0;  // Longer lines refuse with line_full. 0: no bound.
  AnyDuration patience = std::chrono::seconds(10);  // So long a place is kept after the last ask.
  AnyDuration claim_window = std::chrono::seconds(1);  // So long a hand-over waits for its claim.
  AnyDuration max_eta = kForever;  // A longer expected wait is refused as `late`.
  Aging aging = {};                // Order::aging_lottery only.
};

enum class Hold : std::uint8_t {
  bound,     // Ends with the ttl (a waiter: patience) or with its process, whichever is first.
  detached,  // Ends with the ttl or patience only; the token may travel.
};

// The one question to a store. At least one of permits and rates is there; every tier must pass and
// nothing is consumed unless all do.
struct Request {
  GateName gate;
  VisitorId visitor;
  std::string_view label = {};  // Empty: this process's default.
  std::optional<Permits> permits = {};
  std::span<const Rate> rates = {};
  RateMode mode = RateMode::take;
  std::uint32_t cost = 1;            // 1 to 2^31.
  AnyDuration max_delay = kForever;  // reserve: a longer delay is Refused.
  AnyDuration dedupe = Duration(0);  // Rate-only: asked so again within this, the first answer.
  Line line = {};
  Hold hold = Hold::bound;
};

}  // namespace airlock
