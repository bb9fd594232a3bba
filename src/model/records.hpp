#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "airlock/look.hpp"
#include "airlock/name.hpp"
#include "airlock/request.hpp"
#include "airlock/token.hpp"
#include "base/clock.hpp"
#include "model/extents.hpp"
#include "model/index.hpp"
#include "model/pool.hpp"
#include "model/published_field.hpp"
#include "model/tree.hpp"

// The records of a shard. Fixed widths, no pointers: they live on the heap or in a mapped segment
// alike.
//
// In each record the fields come in two parts. The authoritative ones are true whatever happens;
// `state` is the word that publishes them: a record is written while it is free and becomes real by
// one store. The derived ones (links, sums) are an index over the authoritative ones;
// Shard::rebuild() makes them anew.

namespace airlock::model {

using Micros = std::int64_t;

// Which process a bound visit belongs to: its number and its incarnation, in the way of the store.
// 0: none (detached), or the only one there is.
using Owner = std::uint64_t;

constexpr Owner make_owner(std::uint32_t number, std::uint32_t incarnation) noexcept {
  return std::uint64_t{incarnation} << 32 | (number + 1) << 8;
}
// Far above any number for 0.
constexpr std::uint32_t number_of(Owner owner) noexcept {
  return (static_cast<std::uint32_t>(owner) >> 8) - 1;
}
constexpr std::uint32_t incarnation_of(Owner owner) noexcept {
  return static_cast<std::uint32_t>(owner >> 32);
}

enum class VisitState : std::uint8_t {
  free = 0,
  waiting,    // In the line.
  absent,     // In the line, passed over until it asks again.
  handed,     // Granted from the line, not yet claimed; ends with the claim window.
  holding,    // In; ends with the ttl.
  spent,      // A rate-only admission that is remembered for its retry (dedupe).
  pending,    // Part of a group admission; in force once its leader is holding.
  returning,  // Released without the shard's lock; the next owner of the lock folds it in.
};

// A bool where any byte may stand: a segment is other programs' memory too.
class Flag {
 public:
  Flag() = default;
  Flag& operator=(bool set) noexcept {
    byte_ = set ? 1 : 0;
    return *this;
  }
  operator bool() const noexcept {  // NOLINT(google-explicit-constructor): it stands for one.
    return byte_ != 0;
  }

 private:
  std::uint8_t byte_ = 0;
};

// A short text of fixed size: who a visitor is to people, or who reports a pause.
class Label {
 public:
  Label() = default;
  explicit Label(std::string_view text) noexcept
      : size_(static_cast<std::uint8_t>(std::min(text.size(), kMaxLabelSize))) {
    text.copy(text_.data(), size_);
  }
  [[nodiscard]] std::string_view view() const noexcept {
    return {text_.data(), std::min<std::size_t>(size_, kMaxLabelSize)};
  }

 private:
  std::array<char, kMaxLabelSize> text_ = {};
  std::uint8_t size_ = 0;
};

// One visitor at one gate, in whatever state. There is never a second record for the pair.
struct Visit {
  [[nodiscard]] VisitState state() const noexcept {
    return static_cast<VisitState>(word.get() & 15);
  }
  [[nodiscard]] std::uint64_t stamp() const noexcept { return word.get() >> 4; }
  void publish(VisitState state, std::uint64_t stamp) {
    word.publish(stamp << 4 | static_cast<std::uint64_t>(state));
  }

  [[nodiscard]] bool is_free() const noexcept { return state() == VisitState::free; }
  [[nodiscard]] bool in_line() const noexcept {
    return state() == VisitState::waiting || state() == VisitState::absent;
  }
  [[nodiscard]] bool held() const noexcept {
    return state() == VisitState::handed || state() == VisitState::holding;
  }
  // What takes up room: also what is returning, until that is folded in.
  [[nodiscard]] bool inside() const noexcept {
    constexpr unsigned kInside = 1U << static_cast<unsigned>(VisitState::handed) |
                                 1U << static_cast<unsigned>(VisitState::holding) |
                                 1U << static_cast<unsigned>(VisitState::returning);
    return (kInside >> static_cast<unsigned>(state()) & 1U) != 0;
  }
  // Whether its visitor should ask rather than wait to be told.
  [[nodiscard]] bool news_pending() const noexcept {
    if (state() == VisitState::holding) return revoked.get() != 0;
    return state() != VisitState::waiting || called_until != 0;
  }
  [[nodiscard]] Fence fence() const noexcept { return weight.get() != 0 ? stamp() : 0; }
  [[nodiscard]] Micros deadline() const noexcept {
    return in_line() ? (called_until != 0 ? called_until : patience_end.get()) : expiry.get();
  }

  // Authoritative. The word is the state and a stamp that no other word of the shard ever has (the
  // fence, once in), so that who remembers the word knows by one compare that nothing has happened
  // since.
  PublishedField<std::uint64_t> word;
  std::uint32_t hash = 0;
  Ref gate = kNone;
  VisitorId visitor;
  PublishedField<Micros> expiry;         // handed, holding, spent.
  PublishedField<std::uint32_t> weight;  // 0: rates only.
  PublishedField<std::uint32_t> slot;    // kNone: none.
  PublishedField<std::uint32_t> limit;   // Its own; a waiter's changes when it asks again.

  // Derived.
  Ref link = kNone;         // Index chain, or the pool's.
  Micros called_until = 0;  // A several-gate waiter was told that it is its turn.
  PublishedField<Owner>
      watcher;  // Which process is to be told of changes, and what it calls this one.
  PublishedField<std::uint32_t> watch_number;  // For stores that span processes.
  Ref owner_next = kNone;                      // The visits of its owner, in no order.
  Ref owner_prev = kNone;

  // Authoritative again, less often read.
  PublishedField<Micros> patience_end;
  std::uint64_t ticket = 0;  // Arrival.
  Micros joined = 0;
  PublishedField<Micros> granted_at;
  Micros ttl = 0;
  Micros claim_window = 0;
  Micros patience = 0;
  Micros dedupe = 0;
  PublishedField<Owner> owner;
  PublishedField<Micros> revoked;       // When it ends for that; 0: it is not.
  PublishedField<Ref> requested_rates;  // The tiers a waiter asks for.
  std::uint32_t cost = 0;
  Ref leader = kNone;      // pending: the visit that decides,
  Fence leader_fence = 0;  // and the fence that it must have,
  Flag waited;             // and whether it is in the line if it has not.
  PublishedField<Hold> hold;
  Flag exclusive;
  Flag several;  // Waits for more than this gate: called, never handed.
  Order order = Order::fifo;
  std::uint16_t priority = 0;
  Aging aging;
  Label label;
};

// Where a visit stands in the trees of its gate. Derived, and apart from the record: a walk through
// a tree reads many of these and nothing else, so they lie close together.
struct ByDeadline {  // Among the holders or among the waiters.
  Links links;
  Micros deadline = 0;
};
struct ByOrder {  // In the line.
  Links links;
  std::uint32_t in_subtree = 0;
  std::uint32_t present_in_subtree = 0;
  std::uint16_t priority = 0;
  Flag present;
  std::uint64_t ticket = 0;
};

enum class TierState : std::uint32_t { free = 0, charged, wish };

// The state of a rate tier at a gate, or a tier that a waiter asks for.
struct Tier {
  [[nodiscard]] bool is_free() const noexcept { return state.get() == TierState::free; }
  [[nodiscard]] Rate rate() const noexcept {
    return {std::max(count.get(), 1U), Duration(std::max<Micros>(period, 1)), burst.get(),
            algorithm};
  }

  PublishedField<TierState> state;
  Ref owner = kNone;  // charged: the gate. wish: the visit.
  Micros period = 0;
  PublishedField<std::uint32_t> count;
  PublishedField<std::uint32_t> burst;
  Rate::Algorithm algorithm = Rate::Algorithm::gcra;
  // gcra: the theoretical arrival time is time[0] + part / part_of microseconds.
  // sliding_window: window number time[i] was hit hits[i] times; the number's lowest bit chooses i.
  // fixed_window: the window that began at time[0] was hit hits[0] times.
  std::array<PublishedField<Micros>, 2> time;
  std::array<PublishedField<std::uint32_t>, 2> hits;
  PublishedField<std::uint32_t> part;
  PublishedField<std::uint32_t> part_of;

  Ref next = kNone;  // charged: derived. wish: authoritative, written before the head is published.
  Ref link = kNone;
};

// One reporter keeps one gate closed for a while.
struct Pause {
  [[nodiscard]] bool is_free() const noexcept { return state.get() == 0; }

  PublishedField<std::uint32_t> state;
  Ref gate = kNone;
  PublishedField<Micros> until;
  Label reporter;

  Ref next = kNone;  // Derived.
  Ref link = kNone;
};

// Counters of a gate; see airlock/look.hpp.
struct Tallies {
  PublishedField<std::uint64_t> granted;
  std::array<PublishedField<std::uint64_t>, kReasons> refused;
  PublishedField<std::uint64_t> expired, revoked, died, missed, abandoned;
  std::array<PublishedField<std::uint64_t>, Counters::kWaitBuckets> waits;
  PublishedField<Micros> wait_sum;
};

struct Gate {
  [[nodiscard]] bool is_free() const noexcept { return state.get() == 0; }
  [[nodiscard]] std::string_view view() const noexcept {
    return {name.data(), std::min<std::size_t>(name_size, GateName::kMaxSize)};
  }

  // Authoritative.
  PublishedField<std::uint32_t> state;
  std::uint32_t hash = 0;
  PublishedField<Fence> last_fence;
  PublishedField<std::uint32_t> limit_override;  // kNone: none.
  PublishedField<std::uint32_t> limit_seen;      // Of the newest request; 0: none had permits.
  PublishedField<std::uint32_t> exclusive_seen;
  PublishedField<Ref>
      drawn;  // The waiter that a lottery chose and that does not fit yet; kNone: none.

  // Derived.
  Ref link = kNone;
  std::uint32_t in_use = 0;
  std::uint32_t holders = 0;
  std::uint32_t visits = 0;
  // At least the limit of everybody in the line; kNone: somebody there needs no room.
  std::uint32_t line_limit = 0;
  Ends inside;   // Tree of visits by expiry: handed, holding, spent.
  Ends outside;  // Tree of waiters by patience.
  Ends line;     // Tree of waiters by order.
  Ref tiers = kNone;
  Ref pauses = kNone;
  Micros next_due = 0;  // Nothing happens by time alone before.
  Micros rate_due = 0;  // When the rates may let the head in; 0: they did not refuse it.
  Micros last_used = 0;
  Micros swept_used = 0;        // What last_used was when the gate was last swept.
  Micros last_look = 0;         // When its holders were last suspected of being dead,
  Ref look_from = kNone;        // and with whom the next look begins.
  Micros last_grant = 0;        // From the line, or when the line began.
  Micros grant_interval = 0;    // Mean; 0: not known.
  std::uint64_t low_slots = 0;  // Slots 0 to 63 in use.
  Ref high_slots = kNone;
  std::uint32_t high_levels = 0;
  Order order = Order::fifo;
  Aging aging;
  Flag limits_disagree;

  // Authoritative, cold.
  std::uint8_t name_size = 0;
  std::array<char, GateName::kMaxSize> name;
  Tallies tallies;
};

// 4096 slot numbers as bits, or 64 children of that kind. Derived.
struct SlotNode {
  [[nodiscard]] bool is_free() const noexcept { return used == 0; }

  std::uint32_t used = 0;  // Bits set, or children there; at least 1 while taken.
  Ref link = kNone;
  std::uint64_t full = 0;  // Bit n: word n, or child n, has no room.
  union {
    std::array<std::uint64_t, 64> bits;
    std::array<Ref, 64> child;
  };
};

// The shared part of a shard.
struct ShardHead {
  // The newest; at least the wall clock's microseconds, so that it grows even if this is lost.
  PublishedField<std::uint64_t> stamp;
  PoolHead gates, visits, tiers, pauses, slots;
  PublishedField<std::uint32_t> deadlines, places;  // Extents of what runs beside the visits.
  IndexHead gate_index, visit_index;
  std::uint32_t waiters = 0;  // In all lines together. Derived.
  Ref sweep = 0;              // Where the search for forgotten gates goes on.
  std::uint32_t steps = 0;
};

}  // namespace airlock::model
