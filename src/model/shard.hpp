#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/look.hpp"
#include "airlock/outcome.hpp"
#include "airlock/request.hpp"
#include "airlock/store.hpp"
#include "model/index.hpp"
#include "model/orders.hpp"
#include "model/owner_lists.hpp"
#include "model/pool.hpp"
#include "model/rate_verdict.hpp"
#include "model/rates.hpp"
#include "model/records.hpp"
#include "model/slots.hpp"
#include "model/step.hpp"
#include "model/traversal_budget.hpp"
#include "model/tree.hpp"

namespace airlock::model {

// The rules, over the records of one shard: (state, request, context) -> answer. The caller holds
// whatever lock there is, has validated the request, and passes the hash of the gate's name.
//
// Every step may die between any two of its stores to authoritative words: rebuild() then finds a
// state in which the step happened or did not. Rates are written before the admission, so a death
// in between may burn a token.
class Shard {
 public:
  // `number` tells the shards of a store apart in the places of their tokens.
  Shard(ShardHead& head, Memory& memory, Listener& listener, StoreId store,
        std::uint32_t number = 0, const OwnerLists& owners = {}) noexcept;

  Answer admit(const Request& request, std::uint32_t hash, const Requester& requester,
               StepContext& context);
  // The same in parts (admit_fast.hpp), for a store that computes before it locks and answers after it
  // has unlocked: the gate, up to the present; whether its tier gives what is asked of it alone; and
  // everything else.
  [[nodiscard]] At<Gate> open(const GateName& name, std::uint32_t hash, StepContext& context);
  [[nodiscard]] bool try_take(At<Gate> gate, Payment& payment, Micros now);
  Answer admit(At<Gate> gate, const Request& request, const Requester& requester,
               StepContext& context);
  GroupAnswer admit_all(std::span<const Request> requests, std::span<const std::uint32_t> hashes,
                        const Requester& requester, StepContext& context);
  bool leave(std::string_view name, std::uint32_t hash, const VisitorId& visitor,
             StepContext& context);
  bool mark_absent(std::string_view name, std::uint32_t hash, const VisitorId& visitor,
                   StepContext& context);
  void refund(const Request& request, std::uint32_t hash, StepContext& context);
  void renew(RenewItem& item, std::uint32_t hash, StepContext& context);
  bool release(const Token& token, std::uint32_t hash, StepContext& context);
  // The same by the place that the token names. False: not there (any more), so look it up.
  bool release_at(const Token& token, StepContext& context);
  bool disown(const Token& token, std::uint32_t hash, StepContext& context);
  std::optional<Granted> adopt(const Token& token, std::uint32_t hash, Owner owner,
                               StepContext& context);

  bool holds(const Token& token, std::uint32_t hash, StepContext& context);

  std::optional<GateView> look(std::string_view name, std::uint32_t hash, StepContext& context);
  // The same without the line, and without holders but for the only one of a lock.
  std::optional<GateView> summary(std::string_view name, std::uint32_t hash, StepContext& context);
  GateCounts counts(std::string_view name, std::uint32_t hash, StepContext& context);
  void list(std::vector<std::string>& names, StepContext& context);

  void set_limit(const GateName& name, std::uint32_t hash, std::optional<std::uint32_t> limit,
                 StepContext& context);
  void pause(const GateName& name, std::uint32_t hash, Duration duration, std::string_view reporter,
             StepContext& context);
  bool resume(std::string_view name, std::uint32_t hash, std::string_view reporter,
              StepContext& context);
  std::size_t revoke(std::string_view name, std::uint32_t hash,
                     const std::optional<VisitorId>& visitor, Revoke how, StepContext& context);
  bool purge(std::string_view name, std::uint32_t hash, StepContext& context);

  // The visitor's record at the gate, for a store that keeps something beside it.
  [[nodiscard]] At<Visit> find_visit(std::string_view gate, std::uint32_t hash,
                                     const VisitorId& visitor) const;

  // Whether a step that admits nobody itself may hand something over.
  [[nodiscard]] bool has_lines() const noexcept { return head_.waiters != 0; }

  // Ends the bound visits of dead processes (deaths.cpp): of those that had the number of this owner
  // before it, which costs what they had; or of all that the listener says are dead, which costs a
  // look at every visit.
  void end_predecessors(Owner present, StepContext& context);
  void end_all_dead(StepContext& context);

  // A refusal that a death, found after the step, turned into another answer.
  void uncount_refusal(Gate& gate, Reason reason);

  // Gives back without the lock what is held at the token's place, by one word: it is `returning`
  // until a step folds it in. Nothing: not there; look it up under the lock.
  [[nodiscard]] std::optional<Ref> release_lockfree(const Token& token, Micros now);
  void apply_release(Ref returning, StepContext& context);
  void fold_all(StepContext& context);

  // Looks at the next so many places of the gate table: ends what ran out, forgets what is idle.
  void sweep(std::uint32_t places, StepContext& context);
  void sweep_all(StepContext& context) { sweep(gates_.end(), context); }

  // Makes everything derived anew, finishes or undoes what was cut, and admits whom that lets in.
  void rebuild(StepContext& context);

 private:
  friend class ShardProbe;  // Tests read the records through it.

  // Gates (gates.cpp).
  [[nodiscard]] At<Gate> find_gate(std::string_view name, std::uint32_t hash) const;
  [[nodiscard]] At<Gate> open_gate(const GateName& name, std::uint32_t hash, StepContext& context);
  [[nodiscard]] At<Gate> new_gate(const GateName& name, std::uint32_t hash, StepContext& context);
  void collect(At<Gate> gate);
  enum class Idle { long_since, for_a_round, at_all };
  [[nodiscard]] static bool is_idle(const Gate& gate, Idle how, Micros now) noexcept;
  [[nodiscard]] bool collectable(At<Gate> gate, Idle how, Micros now);
  [[nodiscard]] bool has_many_gates() const noexcept;
  [[nodiscard]] bool sweep_one(Idle how, StepContext& context);
  bool evict(StepContext& context);
  void sweep_in_passing(StepContext& context);
  [[nodiscard]] Micros paused_until(Gate& gate, Micros now) {
    return gate.pauses == kNone ? 0 : last_pause_end(gate, now);
  }
  [[nodiscard]] Micros last_pause_end(Gate& gate, Micros now);
  void drop_pauses(Gate& gate, Micros now);

  // Visits (visits.cpp): the only places that change a visit's state.
  [[nodiscard]] At<Visit> find(Ref gate, const VisitorId& visitor) const;
  [[nodiscard]] static std::uint32_t visit_hash(Ref gate, const VisitorId& visitor) noexcept;
  [[nodiscard]] At<Visit> holder_of(At<Gate> gate, const Token& token, StepContext& context);
  [[nodiscard]] std::uint64_t place_of(Ref visit) const noexcept;
  void end_hold(At<Gate> gate, At<Visit> visit, StepContext& context);
  [[nodiscard]] At<Visit> new_visit(At<Gate> gate, const Request& request,
                                    const Requester& requester, StepContext& context);
  [[nodiscard]] bool reserve_visits(std::uint32_t count);
  [[nodiscard]] bool match_extents();
  void insert_by_deadline(Ends& ends, At<Visit> visit);
  static void raise_line_limit(Gate& gate, const Visit& visit) noexcept;
  void add(At<Gate> gate, At<Visit> visit);
  void attach(At<Gate> gate, At<Visit> visit);
  void detach(At<Gate> gate, At<Visit> visit);
  void move(At<Gate> gate, At<Visit> visit, VisitState to);
  void remove(At<Gate> gate, At<Visit> visit);
  void remove_with_refund(At<Gate> gate, At<Visit> visit, Micros now);
  void set_expiry(At<Gate> gate, At<Visit> visit, Micros expiry);
  [[nodiscard]] std::uint64_t next_stamp(const StepContext& context);
  [[nodiscard]] Fence prepare(At<Gate> gate, At<Visit> visit, Micros expiry, StepContext& context);
  void publish(At<Gate> gate, At<Visit> visit, VisitState state, std::uint64_t stamp);
  void claim(At<Gate> gate, At<Visit> visit, Owner owner, Hold hold, StepContext& context);
  void give_slot(Gate& gate, Visit& visit);
  static void count_grant(Tallies& tallies, Micros waited);
  [[nodiscard]] bool change_weight(At<Gate> gate, At<Visit> visit, std::uint32_t weight);
  void revoke_one(At<Gate> gate, At<Visit> visit, Revoke how, Micros now);

  // Rates (tiers.hpp, tiers.cpp).
  [[nodiscard]] Tier* find_tier(const Gate& gate, const Rate& rate) const;
  void weigh_all(const Gate& gate, const RateAsk& ask, Micros now, RateVerdict& verdict) const;
  [[nodiscard]] std::uint32_t available_of(const Gate& gate, const RateAsk& ask, Micros now) const;
  void weigh_in_mode(const Gate& gate, const RateAsk& ask, Micros now, RateVerdict& verdict) const;
  [[nodiscard]] RateInfo standing(const Gate& gate, std::span<const Rate> rates, std::uint32_t cost,
                                  Micros now) const;
  void charge_all(At<Gate> gate, std::span<const Rate> rates, const RateVerdict& verdict,
                  Micros now);
  [[nodiscard]] Tier& new_tier(At<Gate> gate, const Rate& rate);
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
  void settle(At<Gate> gate, StepContext& context) {
    if (context.now >= gate->next_due) reap(gate, context.now);
    if (!gate->line.is_empty()) advance(gate, context);
  }
  void reap(At<Gate> gate, Micros now);
  void pass_over(At<Gate> gate, At<Visit> visit, Micros now);
  void miss_turn(At<Gate> gate, At<Visit> visit, Micros now);
  void reap_inside(At<Gate> gate, At<Visit> visit, Micros now);
  void advance(At<Gate> gate, StepContext& context);
  [[nodiscard]] static bool is_full(const Gate& gate) noexcept;
  [[nodiscard]] bool hand_over(At<Gate> gate, At<Visit> visit, StepContext& context);
  void call(At<Gate> gate, At<Visit> visit, Micros now);
  [[nodiscard]] Ref candidate(Gate& gate, StepContext& context);
  [[nodiscard]] Ref drawn(const Gate& gate, StepContext& context) const;
  [[nodiscard]] bool may_win(const Gate& gate, const Visit& visit, Micros now) const;
  [[nodiscard]] Ref nth_present(Ref root, std::uint32_t n) const;
  [[nodiscard]] Ref head(const Gate& gate) const;
  [[nodiscard]] std::uint32_t position(const Gate& gate, Ref ref) const;
  [[nodiscard]] std::uint32_t next_position(const Gate& gate, std::uint16_t priority) const;
  [[nodiscard]] std::uint32_t present_below(Ref root) const noexcept {
    return root == kNone ? 0 : places_[root].present_in_subtree;
  }
  [[nodiscard]] std::uint32_t waiting(const Gate& gate) const noexcept {
    return gate.line.is_empty() ? 0 : places_[gate.line.root].in_subtree;
  }
  [[nodiscard]] std::uint32_t present(const Gate& gate) const noexcept {
    return present_below(gate.line.root);
  }
  [[nodiscard]] Micros next_event(Gate& gate, Micros now);
  [[nodiscard]] TraversalBudget walk_of(const Gate& gate) const noexcept;
  [[nodiscard]] std::vector<HolderView> holders_of(const Gate& gate, Micros now,
                                                   TraversalBudget& budget) const;

  // Owners and their deaths (visits.hpp, deaths.cpp).
  void link_owner(At<Visit> visit);
  void unlink_owner(At<Visit> visit);
  void set_owner(At<Visit> visit, Hold hold, Owner owner);
  void suspect_holders(At<Gate> gate, Listener::After after);
  void end_bound(At<Visit> visit, Micros now);

  // Admission (admit.cpp).
  void check_room(const Request& request, StepContext& context);
  [[nodiscard]] bool reserve_records(const Request& request);
  void check_order(const Gate& gate, const Request& request) const;
  static void check_kind(const Visit& visit, const Request& request);
  void note_limit(Gate& gate, const Permits& permits) const;
  [[nodiscard]] static std::uint32_t limit_in_effect(const Gate& gate) noexcept;
  [[nodiscard]] static bool fits(const Gate& gate, std::uint32_t limit, bool exclusive,
                                 std::uint32_t weight) noexcept;
  [[nodiscard]] static bool fits(const Gate& gate, const Visit& visit) noexcept;
  Answer admit_known(At<Gate> gate, At<Visit> visit, const Request& request,
                     const Requester& requester, StepContext& context);
  Answer admit_new(At<Gate> gate, const Request& request, const Requester& requester,
                   StepContext& context);
  Answer ask_again(At<Gate> gate, At<Visit> visit, const Request& request,
                   const Requester& requester, StepContext& context);
  Answer claimed(At<Gate> gate, At<Visit> visit, const Request& request, const Requester& requester,
                 StepContext& context);
  void update_waiter(At<Gate> gate, At<Visit> visit, const Request& request,
                     const Requester& requester);
  void renew_patience(At<Gate> gate, At<Visit> visit, bool several, Micros now);
  Answer join(At<Gate> gate, const Request& request, const Requester& requester,
              const RateInfo& rate, StepContext& context);
  [[nodiscard]] At<Visit> enqueue(At<Gate> gate, const Request& request, const Requester& requester,
                                  bool several, StepContext& context);
  [[nodiscard]] std::optional<Refused> line_refuses(Gate& gate, const Request& request,
                                                    const RateInfo& rate, Micros now);
  Answer grant_now(At<Gate> gate, const Request& request, const Requester& requester,
                   const RateVerdict& rate, StepContext& context);
  [[nodiscard]] Granted granted(const GateName& gate, At<Visit> visit, Micros now) const;
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
  void check_group(Requests requests, std::span<const std::uint32_t> hashes, StepContext& context);
  [[nodiscard]] Granted granted_part(const Part& part, const Request& request, bool repeated,
                                     Micros now) const;
  [[nodiscard]] bool never(const Gate& gate, const Request& request, Micros now) const;
  void open_part(Part& part, const Request& request, std::uint32_t hash, StepContext& context);
  [[nodiscard]] std::optional<Reason> why_not(Part& part, const Request& request,
                                              StepContext& context);
  [[nodiscard]] bool grant_part(Part& part, const Request& request, const Requester& requester,
                                StepContext& context);
  void grant_all(Parts parts, Requests requests, const Requester& requester, StepContext& context);
  [[nodiscard]] Duration retry_after(const Part& part, Reason reason, Micros now);
  GroupAnswer stop_at(std::size_t at, Reason reason, Parts parts, Requests requests,
                      const Requester& requester, StepContext& context);

  // Rebuild (rebuild.cpp).
  void resolve_pending();
  void drop_orphan_wishes();
  [[nodiscard]] bool is_draw_of(Ref gate, Ref drawn) const noexcept;
  void drop_the_impossible(Micros now);
  void reset_gates();
  void relink();

  [[nodiscard]] Tree<DeadlineOrder> by_deadline() const noexcept {
    return Tree<DeadlineOrder>(DeadlineOrder{&deadlines_});
  }
  [[nodiscard]] Tree<LineOrder> by_order() const noexcept {
    return Tree<LineOrder>(LineOrder{&places_});
  }

  ShardHead& head_;
  Listener& listener_;
  StoreId store_;
  std::uint32_t number_;
  Pool<Gate> gates_;
  Pool<Visit> visits_;
  ExtentArray<ByDeadline> deadlines_;  // One for each visit,
  ExtentArray<ByOrder> places_;        // and another.
  Pool<Tier> tiers_;
  Pool<Pause> pauses_;
  Pool<SlotNode> slot_nodes_;
  Index<Gate> gate_index_;
  Index<Visit> visit_index_;
  Slots slots_;
  OwnerLists owners_;
};

// Forgotten gates are found in passing: each step looks at one place of the table on average.
inline void Shard::sweep_in_passing(StepContext& context) {
  constexpr std::uint32_t kEvery = 64;
  if (++head_.steps % kEvery == 0) sweep(kEvery, context);
}

// Which shard of a store a token's place names. REQUIRES: a place.
[[nodiscard]] inline std::uint32_t shard_of(std::uint64_t place) noexcept {
  return static_cast<std::uint32_t>(place >> 32) - 1;
}

inline constexpr Micros kNever = std::numeric_limits<Micros>::max();

// Idle gates are forgotten after this.
inline constexpr Micros kIdleGate = 600'000'000;

// A shard with more gates than this forgets those that were not used between two sweeps.
inline constexpr std::uint32_t kManyGates = 4096;

[[noreturn]] void throw_no_room(const char* what_for);
[[noreturn]] void throw_other_order(std::string_view gate);

inline bool Shard::has_many_gates() const noexcept { return head_.gate_index.items > kManyGates; }

inline void bump(PublishedField<std::uint64_t>& counter) { counter.set(counter.get() + 1); }

}  // namespace airlock::model
