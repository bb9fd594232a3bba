#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "airlock/look.hpp"
#include "airlock/outcome.hpp"
#include "airlock/request.hpp"
#include "airlock/store.hpp"
#include "model/support/reference_rates.hpp"

namespace airlock::reference {

// A second implementation of what a store promises, for comparison: plain containers, linear scans, nothing kept that
// can be counted. Written from DESIGN.md section 2 and the public headers, not from src/model.
//
// Fences and slots are as good as any other store's, but not the same numbers.
class Model {
 public:
  explicit Model(std::uint32_t seed) : draw_(seed) {}

  void set_time(Duration now, Duration wall) {
    now_ = now;
    wall_ = wall;
  }

  // Waiters that nobody can reach become absent when it is their turn.
  void set_unreachable(std::set<VisitorId> visitors) { unreachable_ = std::move(visitors); }

  // In a step that only looks for a holder, whether a gate where nothing is due is left alone. Both are right.
  void set_quiet(bool quiet) { quiet_ = quiet; }

  Answer admit(const Request& request, std::uint64_t owner);
  GroupAnswer admit_all(std::span<const Request> requests, std::uint64_t owner);
  bool leave(const std::string& gate, const VisitorId& visitor);
  bool mark_absent(const std::string& gate, const VisitorId& visitor);
  void refund(const Request& request);
  Renewal renew(const Token& token, Duration ttl, std::optional<std::uint32_t> weight);
  bool release(const Token& token);
  bool disown(const Token& token);
  std::optional<Granted> adopt(const Token& token, std::uint64_t owner);

  std::optional<GateView> look(const std::string& gate);
  std::vector<std::string> list() const;
  bool knows(const std::string& gate, const VisitorId& visitor);
  bool has_lines() const;

  void set_limit(const std::string& gate, std::optional<std::uint32_t> limit);
  void pause(const std::string& gate, Duration duration, const std::string& reporter);
  bool resume(const std::string& gate, const std::string& reporter);
  std::size_t revoke(const std::string& gate, const std::optional<VisitorId>& visitor, Revoke how);
  bool purge(const std::string& gate);
  void end_owner(std::uint64_t owner);
  void collect();

  // Whom a watch must have told since the last call: handed over, called, revoked, purged.
  std::set<VisitorId> take_told() { return std::exchange(told_, {}); }

 private:
  enum class State { waiting, absent, handed, holding, spent };

  struct Visit {
    VisitorId visitor;
    std::string label;
    State state = State::waiting;
    std::optional<Permits> permits;  // None: rates only.
    std::vector<Rate> rates;
    std::uint32_t cost = 1;
    Duration dedupe{0};
    Hold hold = Hold::bound;
    std::uint64_t owner = 0;

    // While it waits.
    Order order = Order::fifo;
    Aging aging = {};
    std::uint64_t arrival = 0;
    std::uint16_t priority = 0;
    bool drawn = false;  // By a lottery; waits for room.
    Duration joined{0};
    Duration patience{0};
    Duration patience_end{0};
    Duration claim_window{0};
    bool several = false;                       // Waits for more gates than this one:
    std::optional<Duration> called_until = {};  // called, never handed.

    // Once it is in.
    Fence fence = 0;
    Slot slot = {};
    Duration granted_at{0};
    Duration expiry{0};
    std::uint64_t expiry_set = 0;          // The count of such.
    std::optional<Duration> revoked = {};  // Until when.

    [[nodiscard]] bool in_line() const { return state == State::waiting || state == State::absent; }
    [[nodiscard]] bool inside() const { return state == State::handed || state == State::holding; }
    [[nodiscard]] std::uint32_t weight() const { return permits ? permits->weight : 0; }
    [[nodiscard]] Duration deadline() const {
      return in_line() ? called_until.value_or(patience_end) : expiry;
    }
  };

  struct Gate {
    std::string name;
    std::list<Visit> visits = {};  // Stay where they are.
    std::vector<Tier> tiers = {};
    std::map<std::string, Duration> pauses = {};  // Reporter -> end.
    std::optional<std::uint32_t> limit_override = {};
    std::uint32_t limit_seen = 0;
    bool exclusive_seen = false;
    bool limits_disagree = false;
    Order order = Order::fifo;
    Aging aging = {};
    Duration line_since{0};  // The last grant from the line, or when the line began.
    Duration interval{0};    // Mean between grants from the line; 0: not known.
    Duration last_used{0};
    std::uint64_t draw = 0;  // When its line was last served. Other gates may have drawn since.
    Fence last_fence = 0;
    Counters counters = {};
  };

  // What all tiers together say to a request.
  struct Verdict {
    bool allowed = true;
    bool never = false;
    std::uint32_t taken = 0;
    Duration delay{0};
    RateInfo before = {};  // The tightest tier as it is,
    RateInfo after = {};   // and as it would be.
  };

  // Gates and visits.
  Gate& open(const std::string& name);
  Gate* find(const std::string& name);
  static Visit* find_visit(Gate& gate, const VisitorId& visitor);
  Visit* holder(Gate& gate, const Token& token);
  static void erase(Gate& gate, const VisitorId& visitor);
  static void note_limit(Gate& gate, const Permits& permits);

  // What follows from the time and from what happened.
  bool due(Gate& gate);
  void settle(Gate& gate);
  void end_what_ran_out(Gate& gate);
  void lapse(Gate& gate);
  static void rejoin(Gate& gate, Visit& visit);
  static void set_absent(Visit& visit);
  void pass_over(Gate& gate, Visit& visit);
  void serve_line(Gate& gate);
  bool hand_over(Gate& gate, Visit& visit);

  // Who is next.
  Visit* candidate(Gate& gate);
  bool has_something_to_win(Gate& gate, const Visit& visit);
  Visit* draw_one(Gate& gate, const std::vector<Visit*>& present);
  std::uint32_t draw_below(std::uint32_t n);
  std::uint64_t tickets(const Gate& gate, const Visit& visit) const;
  static std::vector<Visit*> line_of(Gate& gate);     // In the order of service.
  static std::vector<Visit*> present_in(Gate& gate);  // Those of them who are not absent.

  // Room.
  static std::uint32_t in_use(const Gate& gate);
  static std::uint32_t effective_limit(const Gate& gate, std::uint32_t limit, bool exclusive);
  static std::uint32_t limit_in_effect(const Gate& gate);
  static bool fits(const Gate& gate, const Permits& permits, std::uint32_t in_use_by_others);
  static Slot lowest_free_slot(const Gate& gate);
  static std::optional<Duration> paused_until(const Gate& gate);

  // Rates.
  static Tier* tier_of(Gate& gate, const Rate& rate);
  Verdict peek(Gate& gate, const Request& request);
  Verdict weigh(Gate& gate, const Request& request);
  Verdict weigh(Gate& gate, const Visit& visit);
  Verdict weigh(Gate& gate, std::span<const Rate> rates, std::uint32_t cost, RateMode mode,
                Duration max_delay);
  void charge_all(Gate& gate, std::span<const Rate> rates, std::uint32_t cost);
  void refund_all(Gate& gate, std::span<const Rate> rates, std::uint32_t cost);

  // Admission.
  void check_order(Gate& gate, const Request& request);
  static void check_kind(const Visit& visit, const Request& request);
  Answer ask_again(Gate& gate, Visit& visit, const Request& request, std::uint64_t owner);
  static void update(Gate& gate, Visit& visit, const Request& request, std::uint64_t owner);
  Answer ask_first(Gate& gate, const Request& request, std::uint64_t owner);
  Answer join(Gate& gate, const Request& request, std::uint64_t owner, const Verdict& verdict);
  std::optional<Refused> line_refuses(Gate& gate, const Request& request, const RateInfo& rate);
  Visit& enqueue(Gate& gate, const Request& request, std::uint64_t owner);
  Visit new_visit(const Request& request, std::uint64_t owner) const;
  void let_in(Gate& gate, Visit& visit, State state, Duration expiry);
  Granted enter(Gate& gate, const Request& request, std::uint64_t owner, const Verdict& verdict);
  Granted claim(Gate& gate, Visit& visit, const Request& request, std::uint64_t owner);
  void count_grant(Gate& gate, Duration waited);

  // Several gates.
  std::optional<Reason> why_not(Gate& gate, const Request& request, Verdict& verdict);
  Granted grant_part(Gate& gate, const Request& request, std::uint64_t owner,
                     const Verdict& verdict);
  GroupAnswer stop_at(std::size_t at, Reason reason, std::span<const Request> requests,
                      std::uint64_t owner, const Verdict& verdict);

  // Answers.
  Granted granted(const Gate& gate, const Visit& visit) const;
  Queued queued(Gate& gate, const Visit& visit, const RateInfo& rate);
  Refused refused(Gate& gate, Reason reason, Duration retry_after, const RateInfo& rate);
  Duration retry_after(Gate& gate);
  std::optional<Duration> next_event(Gate& gate);

  Duration now_{0};
  Duration wall_{0};
  std::uint64_t draw_;
  bool quiet_ = false;
  std::uint64_t arrivals_ = 0;
  std::uint64_t expiries_ = 0;
  Fence last_fence_ = 0;
  std::map<std::string, Gate> gates_;
  std::set<VisitorId> unreachable_;
  std::set<VisitorId> told_;
};

}  // namespace airlock::reference
