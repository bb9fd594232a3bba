#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/answer.hpp"
#include "airlock/error.hpp"
#include "airlock/look.hpp"
#include "airlock/request.hpp"
#include "airlock/store.hpp"
#include "model/draw.hpp"
#include "model/extents.hpp"
#include "model/index.hpp"
#include "model/rates.hpp"
#include "model/records.hpp"
#include "model/slots.hpp"
#include "model/tree.hpp"

namespace airlock::model {

// What a step is given instead of reading it: the time, and a draw for lotteries.
struct Moment {
  Micros now = 0;   // The store's monotone clock.
  Micros wall = 0;  // For fences.
  Draw& draw;
};

// Who asks, beside what the request says.
struct Asker {
  Owner owner = 0;
  const Label* label = nullptr;  // Where the request has none.
};

// Told by a shard, in the middle of a step, what other visitors must know.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  // The visit was handed the slot, called, revoked, or is about to end. Must not call back into the
  // shard.
  virtual void changed(Ref ref, const Visit& visit) noexcept = 0;

  // Whether a waiter can be told. A false makes it absent.
  [[nodiscard]] virtual bool reachable(const Visit& visit) noexcept = 0;
};

// The rules, over the records of one shard: (state, request, moment) -> answer. The caller holds
// whatever lock there is, has validated the request, and passes the hash of the gate's name.
//
// Every step may die between any two of its stores to authoritative words: rebuild() then finds a
// state in which the step happened or did not. Rates are written before the admission, so a death
// in between may burn a token.
class Shard {
 public:
  Shard(ShardHead& head, Memory& memory, Listener& listener, StoreId store) noexcept;

  Answer admit(const Request& request, std::uint32_t hash, const Asker& asker, Moment& moment);
  GroupAnswer admit_all(std::span<const Request> requests, std::span<const std::uint32_t> hashes,
                        const Asker& asker, Moment& moment);
  bool leave(std::string_view name, std::uint32_t hash, const VisitorId& visitor, Moment& moment);
  void refund(const Request& request, std::uint32_t hash, Moment& moment);
  void renew(RenewItem& item, std::uint32_t hash, Moment& moment);
  bool release(const Token& token, std::uint32_t hash, Moment& moment);
  bool disown(const Token& token, std::uint32_t hash, Moment& moment);
  std::optional<Granted> adopt(const Token& token, std::uint32_t hash, Owner owner, Moment& moment);

  std::optional<GateView> look(std::string_view name, std::uint32_t hash, Moment& moment);
  GateCounts counts(std::string_view name, std::uint32_t hash, Moment& moment);
  void list(std::vector<std::string>& names, Moment& moment);

  void set_limit(const GateName& name, std::uint32_t hash, std::optional<std::uint32_t> limit,
                 Moment& moment);
  void pause(const GateName& name, std::uint32_t hash, Duration duration, std::string_view reporter,
             Moment& moment);
  bool resume(std::string_view name, std::uint32_t hash, std::string_view reporter, Moment& moment);
  std::size_t revoke(std::string_view name, std::uint32_t hash,
                     const std::optional<VisitorId>& visitor, Store::Revoke how, Moment& moment);
  bool purge(std::string_view name, std::uint32_t hash, Moment& moment);

  // The visitor's record at the gate, for a store that keeps something beside it.
  [[nodiscard]] At<Visit> find_visit(std::string_view gate, std::uint32_t hash,
                                     const VisitorId& visitor) const noexcept;

  // Whether a step that admits nobody itself may hand something over.
  [[nodiscard]] bool has_lines() const noexcept { return head_.waiters != 0; }

  // Ends every bound visit of a process that is no more.
  void end_owner(Owner owner, Moment& moment);

  // Looks at the next so many places of the gate table: ends what ran out, forgets what is idle.
  void sweep(std::uint32_t places, Moment& moment);
  void sweep_all(Moment& moment) { sweep(gates_.end(), moment); }

  // Makes everything derived anew, finishes or undoes what was cut, and admits whom that lets in.
  void rebuild(Moment& moment);

 private:
  friend class ShardProbe;  // Tests read the records through it.

  struct ByDeadline {
    static constexpr bool kSums = false;
    const Pool<Visit>* visits;
    [[nodiscard]] Links& links(Ref ref) const noexcept { return (*visits)[ref].by_deadline; }
    [[nodiscard]] bool before(Ref a, Ref b) const noexcept {
      return (*visits)[a].deadline() < (*visits)[b].deadline();
    }
  };
  struct ByOrder {
    static constexpr bool kSums = true;
    const Pool<Visit>* visits;
    [[nodiscard]] Links& links(Ref ref) const noexcept { return (*visits)[ref].by_order; }
    [[nodiscard]] bool before(Ref a, Ref b) const noexcept {
      const Visit& x = (*visits)[a];
      const Visit& y = (*visits)[b];
      return x.priority != y.priority ? x.priority > y.priority : x.ticket < y.ticket;
    }
    void update(Ref ref) const noexcept;
  };

  // What all tiers together say.
  struct RateVerdict {
    bool allowed = true;
    bool never = false;
    std::uint32_t taken = 0;
    Duration delay{0};
    RateInfo info;
  };
  struct RateAsk {
    std::span<const Rate> rates;
    RateMode mode = RateMode::take;
    std::uint32_t cost = 0;
    Duration max_delay{0};
  };

  // Gates (gates.cpp).
  [[nodiscard]] At<Gate> find_gate(std::string_view name, std::uint32_t hash) const noexcept;
  [[nodiscard]] At<Gate> open_gate(const GateName& name, std::uint32_t hash, Moment& moment);
  [[nodiscard]] At<Gate> new_gate(const GateName& name, std::uint32_t hash, Moment& moment);
  void collect(At<Gate> gate);
  [[nodiscard]] bool collectable(At<Gate> gate, Micros now);
  void sweep_in_passing(Moment& moment);
  [[nodiscard]] Micros paused_until(Gate& gate, Micros now);
  void drop_pauses(Gate& gate, Micros now);

  // Visits (visits.cpp): the only places that change a visit's state.
  [[nodiscard]] At<Visit> find(Ref gate, const VisitorId& visitor) const noexcept;
  [[nodiscard]] static std::uint32_t visit_hash(Ref gate, const VisitorId& visitor) noexcept;
  [[nodiscard]] At<Visit> holder_of(At<Gate> gate, const Token& token, Moment& moment);
  [[nodiscard]] At<Visit> new_visit(At<Gate> gate, const Request& request, const Asker& asker,
                                    Moment& moment);
  void attach(At<Gate> gate, At<Visit> visit);
  void detach(At<Gate> gate, At<Visit> visit);
  void move(At<Gate> gate, At<Visit> visit, VisitState to);
  void remove(At<Gate> gate, At<Visit> visit);
  void set_expiry(At<Gate> gate, At<Visit> visit, Micros expiry);
  [[nodiscard]] std::uint64_t next_stamp(const Moment& moment);
  [[nodiscard]] Fence prepare(At<Gate> gate, At<Visit> visit, Micros expiry, Moment& moment);
  void publish(At<Gate> gate, At<Visit> visit, VisitState state, std::uint64_t stamp);
  void claim(At<Gate> gate, At<Visit> visit, Owner owner, Hold hold, Moment& moment);
  void give_slot(Gate& gate, Visit& visit);
  static void count_grant(Tallies& tallies, Micros waited);
  [[nodiscard]] bool change_weight(At<Gate> gate, At<Visit> visit, std::uint32_t weight);
  void revoke_one(At<Gate> gate, At<Visit> visit, Store::Revoke how, Micros now);

  // Rates (tiers.cpp).
  [[nodiscard]] Tier* find_tier(const Gate& gate, const Rate& rate) const noexcept;
  [[nodiscard]] static Tally weigh_one(const Rate& rate, const Tier* tier, const RateAsk& ask,
                                       std::uint32_t cost, Micros now);
  [[nodiscard]] RateVerdict weigh_all(const Gate& gate, const RateAsk& ask, Micros now) const;
  [[nodiscard]] RateInfo standing(const Gate& gate, std::span<const Rate> rates, std::uint32_t cost,
                                  Micros now) const;
  void charge_all(At<Gate> gate, std::span<const Rate> rates, std::uint32_t cost, Micros now);
  [[nodiscard]] Tier& new_tier(At<Gate> gate, const Rate& rate, Micros now);
  void drop_idle_tiers(Gate& gate, Micros now);
  void write_wishes(At<Visit> visit, std::span<const Rate> rates);
  // What a hand-over took. It is given back after the hand-over has ended, so that a death in
  // between burns it rather than giving it back twice.
  struct Taken {
    std::array<Rate, kMaxRates> rates;
    std::size_t count = 0;
    std::uint32_t cost = 0;
  };
  [[nodiscard]] Taken taken_by(const Visit& visit) const noexcept;
  void give_back_all(const Gate& gate, const Taken& taken, Micros now);
  void drop_wishes(Ref first);
  [[nodiscard]] std::size_t read_wishes(const Visit& visit,
                                        std::array<Rate, kMaxRates>& rates) const noexcept;

  // The line (line.cpp).
  // Brings a gate up to the present: what ran out has ended, whom that lets in is in.
  void settle(At<Gate> gate, Moment& moment) {
    if (moment.now >= gate->next_due) reap(gate, moment.now);
    if (gate->line != kNone) advance(gate, moment);
  }
  void reap(At<Gate> gate, Micros now);
  void reap_inside(At<Gate> gate, At<Visit> visit, Micros now);
  void advance(At<Gate> gate, Moment& moment);
  [[nodiscard]] bool hand_over(At<Gate> gate, At<Visit> visit, Moment& moment);
  void call(At<Gate> gate, At<Visit> visit, Micros now);
  [[nodiscard]] Ref candidate(Gate& gate, Moment& moment);
  [[nodiscard]] Ref drawn(const Gate& gate, Moment& moment) const;
  [[nodiscard]] Ref nth_present(Ref root, std::uint32_t n) const noexcept;
  [[nodiscard]] std::uint32_t position(Ref ref) const noexcept;
  [[nodiscard]] std::uint32_t next_position(const Gate& gate,
                                            std::uint16_t priority) const noexcept;
  [[nodiscard]] std::uint32_t waiting(const Gate& gate) const noexcept;
  [[nodiscard]] std::uint32_t present(const Gate& gate) const noexcept;
  [[nodiscard]] Micros next_event(Gate& gate, Micros now);

  // Admission (admit.cpp).
  void check_room(const Request& request);
  void check_order(const Gate& gate, const Request& request) const;
  void note_limit(Gate& gate, const Permits& permits) const;
  [[nodiscard]] static std::uint32_t limit_in_effect(const Gate& gate) noexcept;
  [[nodiscard]] static bool fits(const Gate& gate, std::uint32_t limit, bool exclusive,
                                 std::uint32_t weight) noexcept;
  Answer admit_known(At<Gate> gate, At<Visit> visit, const Request& request, const Asker& asker,
                     Moment& moment);
  Answer admit_new(At<Gate> gate, const Request& request, const Asker& asker, Moment& moment);
  Answer ask_again(At<Gate> gate, At<Visit> visit, const Request& request, const Asker& asker,
                   Moment& moment);
  Answer claimed(At<Gate> gate, At<Visit> visit, const Request& request, const Asker& asker,
                 Moment& moment);
  void update_waiter(At<Gate> gate, At<Visit> visit, const Request& request, const Asker& asker);
  void renew_patience(At<Gate> gate, At<Visit> visit, bool several, Micros now);
  Answer join(At<Gate> gate, const Request& request, const Asker& asker, const RateInfo& rate,
              Moment& moment);
  [[nodiscard]] At<Visit> enqueue(At<Gate> gate, const Request& request, const Asker& asker,
                                  Moment& moment);
  [[nodiscard]] std::optional<Refused> line_refuses(Gate& gate, const Request& request,
                                                    const RateInfo& rate, Micros now);
  Answer grant_now(At<Gate> gate, const Request& request, const Asker& asker,
                   const RateVerdict& rate, Moment& moment);
  [[nodiscard]] Granted granted(const GateName& gate, const Visit& visit, Micros now) const;
  [[nodiscard]] Queued queued(Gate& gate, At<Visit> visit, const RateInfo& rate, Micros now);
  [[nodiscard]] Duration retry_after(Gate& gate, Micros now);
  [[nodiscard]] static Refused refused(Gate& gate, Reason reason, Duration retry_after,
                                       const RateInfo& rate);

  // Several gates (group.cpp).
  struct Part {
    At<Gate> gate;
    At<Visit> visit;
    Fence fence = 0;
    RateVerdict rate;
  };
  using Parts = std::span<Part>;
  using Requests = std::span<const Request>;
  void check_group_room(Requests requests);
  void check_group_order(Requests requests, std::span<const std::uint32_t> hashes, Moment& moment);
  [[nodiscard]] Granted granted_part(const Part& part, const Request& request, bool repeated,
                                     Micros now) const;
  void open_part(Part& part, const Request& request, std::uint32_t hash, Moment& moment);
  [[nodiscard]] std::optional<Reason> why_not(Part& part, const Request& request, Moment& moment);
  [[nodiscard]] bool grant_part(Part& part, const Request& request, const Asker& asker,
                                Moment& moment);
  void grant_all(Parts parts, Requests requests, const Asker& asker, Moment& moment);
  [[nodiscard]] Duration retry_after(const Part& part, Reason reason, Micros now);
  GroupAnswer stop_at(std::size_t at, Reason reason, Parts parts, Requests requests,
                      const Asker& asker, Moment& moment);

  // Rebuild (rebuild.cpp).
  void resolve_pending();
  void drop_orphan_wishes();
  void reset_gates();
  void relink();

  [[nodiscard]] Tree<ByDeadline> by_deadline() const noexcept {
    return Tree<ByDeadline>(ByDeadline{&visits_});
  }
  [[nodiscard]] Tree<ByOrder> by_order() const noexcept { return Tree<ByOrder>(ByOrder{&visits_}); }

  ShardHead& head_;
  Listener& listener_;
  StoreId store_;
  Pool<Gate> gates_;
  Pool<Visit> visits_;
  Pool<Tier> tiers_;
  Pool<Pause> pauses_;
  Pool<SlotNode> slot_nodes_;
  Index<Gate> gate_index_;
  Index<Visit> visit_index_;
  Slots slots_;
};

// Forgotten gates are found in passing: each step looks at one place of the table on average.
inline void Shard::sweep_in_passing(Moment& moment) {
  constexpr std::uint32_t kEvery = 64;
  if (++head_.steps % kEvery == 0) sweep(kEvery, moment);
}

inline constexpr Micros kNever = std::numeric_limits<Micros>::max();

// Idle gates are forgotten after this.
inline constexpr Micros kIdleGate = 600'000'000;

[[noreturn]] void throw_no_room(const char* what_for);

inline void bump(Word<std::uint64_t>& counter) { counter.set(counter.get() + 1); }

}  // namespace airlock::model
