#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/rates.hpp"
#include "model/shard.hpp"
#include "model/support/image_memory.hpp"
#include "model/support/operation.hpp"
#include "model/support/perform.hpp"
#include "model/support/record_check.hpp"
#include "model/support/trial_seed.hpp"

// Death at any moment: a step is cut after each of its stores in turn, the shard is rebuilt, and what is found is a
// state in which the step happened or did not.

namespace airlock::trial {
namespace {

struct Cut {};

std::int64_t stores_left = -1;  // Negative: no cut.

}  // namespace
}  // namespace airlock::trial

void airlock::model::cut_point() {
  if (trial::stores_left < 0) return;
  if (trial::stores_left-- == 0) throw trial::Cut{};
}

namespace airlock::trial {
namespace {

constexpr StoreId kStore = 77;

class Deaf final : public model::Listener {
 public:
  void changed(model::Ref /*ref*/, model::Visit& /*visit*/) noexcept override {}
  bool reachable(const model::Visit& /*visit*/) noexcept override { return true; }
};

enum class Kind { in_line, handed, holding };

// One visitor at one gate.
struct Place {
  Kind kind = Kind::in_line;
  Fence fence = 0;
};

// What is seen of all gates at one moment.
struct Sight {
  std::map<std::pair<std::string, VisitorId>, Place> places;
  std::map<std::string, std::vector<VisitorId>> lines;
  std::set<std::string> lotteries;
  std::map<std::pair<std::string, std::string>, std::string> facts;  // Gate and what of it.
  std::set<std::pair<std::string, VisitorId>> waiting_to_be_handed;
  std::set<std::pair<std::string, std::string>>
      prolonged;  // Those that a call may change at any time.
  std::string text;
};

using TierKey = std::tuple<model::Ref, Rate::Algorithm, model::Micros>;

// The tokens at all gates, and what the hand-overs of which nobody knows yet whether they are claimed took of them.
struct Tokens {
  std::map<TierKey, RateView> left;
  std::map<std::pair<std::uint64_t, TierKey>, std::uint32_t> handed;  // By stamp.
};

void add(Sight& sight, GateView view) {
  std::ranges::sort(view.holders, {}, [](const HolderView& holder) {
    return std::pair(holder.fence, holder.visitor);  // By rate alone there is no fence.
  });
  if (view.order == Order::lottery || view.order == Order::aging_lottery) {
    sight.lotteries.insert(view.name);
  }
  std::ostringstream out;
  out << view.name << " in_use " << view.counts.in_use << "/" << view.counts.limit << " override "
      << view.override_limit.value_or(-1) << " disagree " << view.limits_disagree << " order "
      << static_cast<int>(view.order) << " fence " << view.last_fence << "\n";
  for (const HolderView& holder : view.holders) {
    sight.places[{view.name, holder.visitor}] = {holder.claimed ? Kind::holding : Kind::handed,
                                                 holder.fence};
    out << "  holder " << holder.visitor.low - 1 << " fence " << holder.fence << " weight "
        << holder.weight << " slot " << holder.slot.value_or(-1) << " age " << holder.age.count()
        << " left " << holder.remaining.count() << (holder.claimed ? "" : " unclaimed")
        << (holder.revoked ? " revoked" : "") << (holder.hold == Hold::bound ? " bound" : "")
        << "\n";
  }
  for (const WaiterView& waiter : view.line) {
    sight.places[{view.name, waiter.visitor}] = {};
    sight.lines[view.name].push_back(waiter.visitor);
    out << "  waiter " << waiter.visitor.low - 1 << " weight " << waiter.weight << " priority "
        << waiter.priority << " waited " << waiter.waited.count()
        << (waiter.present ? "" : " absent") << "\n";
  }
  for (const RateView& rate : view.rates) {
    out << "  rate " << rate.rate.text() << " remaining " << rate.info.remaining << " reset "
        << rate.info.reset_after.count() << "\n";
  }
  for (const PauseView& pause : view.pauses) {
    out << "  pause " << pause.reporter << " " << pause.remaining.count() << "\n";
  }
  const Counters& counters = view.counters;
  out << "  granted " << counters.granted << " expired " << counters.expired << " revoked "
      << counters.revoked << " missed " << counters.missed << " abandoned " << counters.abandoned
      << "\n";
  sight.text += out.str();
}

class CutTrial {
 public:
  CutTrial(std::uint64_t seed, const Profile& profile, Fresh fresh)
      : profile_(profile),
        generator_(seed, profile),
        memory_(fresh),
        draw_(static_cast<std::uint32_t>(seed)) {}

  // A step, or the next one at random: cut everywhere, then done. Says what is wrong; empty: nothing.
  std::string next() { return apply(generator_.next()); }
  std::string apply(const Operation& operation);

  [[nodiscard]] std::uint64_t cuts() const { return cuts_; }
  [[nodiscard]] const Operation& operation() const { return operation_; }

 private:
  struct State {
    Image image;
    std::array<std::uint32_t, 2> owners;
    model::Draw draw;
  };

  [[nodiscard]] State save() const { return {Image(memory_, head_, shard_), owners_.heads, draw_}; }
  void restore(const State& state) {
    state.image.restore(memory_, head_, shard_);
    owners_.heads = state.owners;
    draw_ = state.draw;
  }

  [[nodiscard]] static bool completes(std::int64_t stores, const std::function<void()>& work);
  [[nodiscard]] Sight look_around();
  [[nodiscard]] Tokens count_tokens();
  void add_facts(Sight& sight);
  [[nodiscard]] std::string wishes_of(const model::Visit& visit);
  void remember(const Reply& reply);
  void remember(const Granted& granted);

  void check_rebuild(const Sight& seen);
  void check_cut(const Sight& without, const Sight& with);
  void check_cut_rebuild(const State& cut, const Sight& rebuilt);
  void check_records(const char* when);
  void check_places(const Sight& now, const Sight& without, const Sight& with);
  void check_facts(const Sight& now, const Sight& without, const Sight& with);
  void check_lines(const Sight& now, const Sight& without);
  void check_group(const Sight& now, const Sight& without, const Sight& with);
  void check_tokens();
  [[nodiscard]] std::map<TierKey, std::uint64_t> charged_newcomer();
  void check_limits();
  void check_drain();
  void check_nothing_left();
  void require(bool holds, const std::string& what) {
    if (!holds) wrong_ += what + "\n";
  }

  Profile profile_;
  Generator generator_;
  Deaf listener_;
  ImageMemory memory_;
  model::ShardHead head_;
  OwnerHeads owners_;
  model::Shard shard_{head_, memory_, listener_, kStore, 0, owners_.lists()};
  model::Draw draw_;
  model::StepContext context_{1'000'000'000, 1'767'225'600'000'000, draw_};
  std::deque<Token> tokens_ = {{kStore, "g/0", {}, 1}};
  Operation operation_;
  std::uint64_t stamp_ = 0;  // The newest before the step,
  Tokens tokens_before_;     // what the gates had,
  Sight before_;             // and the facts.
  std::uint64_t cuts_ = 0;
  std::string wrong_;
};

// Runs `work` with so many stores. False: it wanted more and was cut.
bool CutTrial::completes(std::int64_t stores, const std::function<void()>& work) {
  stores_left = stores;
  bool complete = true;
  try {
    work();
  } catch (const Cut&) {
    complete = false;
  }
  stores_left = -1;
  return complete;
}

std::string CutTrial::apply(const Operation& operation) {
  operation_ = operation;
  context_.now += operation_.after.count();
  context_.wall += (operation_.after + operation_.wall_jump).count();
  const Token token = tokens_[operation_.token % tokens_.size()];
  Reply reply;
  const auto step = [&] { reply = perform(shard_, operation_, token, context_); };

  stamp_ = head_.stamp.get();
  tokens_before_ = count_tokens();
  before_ = {};
  add_facts(before_);
  const State before = save();
  shard_.rebuild(context_);
  const Sight without = look_around();
  restore(before);
  step();
  const State after = save();
  const Sight with = look_around();
  check_rebuild(with);
  for (std::int64_t stores = 0; wrong_.empty(); ++stores) {
    restore(before);
    if (completes(stores, step)) break;
    ++cuts_;
    check_cut(without, with);
    if (!wrong_.empty()) wrong_ = "cut after store " + std::to_string(stores + 1) + "\n" + wrong_;
  }
  restore(after);
  remember(reply);
  if (!wrong_.empty()) wrong_ += "--- without\n" + without.text + "--- with\n" + with.text;
  return wrong_;
}

Sight CutTrial::look_around() {
  Sight sight;
  for (std::size_t i = 0; i < profile_.gates; ++i) {
    const std::string gate = gate_text(i);
    if (auto view = shard_.look(gate, gate_hash(gate), context_)) add(sight, *std::move(view));
  }
  add_facts(sight);
  return sight;
}

// What the records say beside what is seen.
void CutTrial::add_facts(Sight& sight) {
  memory_.for_each_place<model::Gate>(model::Region::gates, head_.gates,
                                      [&](model::Ref /*ref*/, const model::Gate& gate) {
                                        if (gate.is_free()) return;
                                        sight.facts[{std::string(gate.view()), "override"}] =
                                            std::to_string(gate.limit_override.get());
                                      });
  memory_.for_each_place<model::Pause>(
      model::Region::pauses, head_.pauses, [&](model::Ref /*ref*/, const model::Pause& pause) {
        if (pause.is_free()) return;
        const auto& gate = memory_.at<model::Gate>(model::Region::gates, pause.gate);
        sight.facts[{std::string(gate.view()), "pause of " + std::string(pause.reporter.view())}] =
            std::to_string(pause.until.get());
      });
  memory_.for_each_place<model::Visit>(
      model::Region::visits, head_.visits, [&](model::Ref /*ref*/, const model::Visit& visit) {
        if (!visit.in_line() && !visit.inside()) return;
        const auto& gate = memory_.at<model::Gate>(model::Region::gates, visit.gate);
        const std::string who = "visitor " + std::to_string(visit.visitor.low - 1);
        const auto note = [&](const char* what, const auto& value) {
          std::ostringstream text;
          text << value;
          sight.facts[{std::string(gate.view()), who + " " + what}] = text.str();
        };
        note("label", visit.label.view());
        note("weight", visit.weight.get());
        note("ttl", visit.ttl);
        note("owner", visit.owner.get());
        note("hold", static_cast<int>(visit.hold.get()));
        if (visit.weight.get() != 0) note("limit", visit.limit.get());
        if (visit.weight.get() != 0) note("exclusive", visit.exclusive);
        if (visit.state() == model::VisitState::waiting && !visit.several) {
          sight.waiting_to_be_handed.emplace(gate.view(), visit.visitor);
        }
        if (visit.state() == model::VisitState::holding) return;
        note("requested_rates", wishes_of(visit));
        note("cost", visit.cost);
        note("priority", visit.priority);
        note("patience", visit.patience);
        note("patience end", visit.patience_end.get());
        if (visit.called_until != 0) {
          sight.prolonged.emplace(gate.view(), who + " patience end");
        }
        note("window", visit.claim_window);
        note("dedupe", visit.dedupe);
        note("joined", visit.joined);
      });
}

std::string CutTrial::wishes_of(const model::Visit& visit) {
  std::string text;
  for (model::Ref ref = visit.requested_rates.get(); ref != model::kNone;) {
    const auto& tier = memory_.at<model::Tier>(model::Region::tiers, ref);
    text += tier.rate().text() + " ";
    ref = tier.next;
  }
  return text;
}

void CutTrial::remember(const Reply& reply) {
  if (const auto* answer = std::get_if<Answer>(&reply)) {
    if (const auto* granted = std::get_if<Granted>(answer)) remember(*granted);
  } else if (const auto* group = std::get_if<GroupAnswer>(&reply)) {
    for (const Granted& granted : group->granted) remember(granted);
  }
}

void CutTrial::remember(const Granted& granted) {
  tokens_.push_front(granted.token);
  if (tokens_.size() > 40) tokens_.pop_back();
}

// --- checks ---

// Without a cut a rebuild changes nothing that is seen.
void CutTrial::check_rebuild(const Sight& seen) {
  check_records("after the step");
  shard_.rebuild(context_);
  check_records("after the step and a rebuild");
  const Sight rebuilt = look_around();
  require(seen.text == rebuilt.text,
          "a rebuild changes what is seen:\n" + seen.text + "--- to\n" + rebuilt.text);
}

void CutTrial::check_cut(const Sight& without, const Sight& with) {
  const State cut = save();
  shard_.rebuild(context_);
  check_records("after the cut");
  if (!wrong_.empty()) return;
  const Sight now = look_around();
  check_places(now, without, with);
  check_facts(now, without, with);
  check_lines(now, without);
  check_group(now, without, with);
  check_tokens();
  check_limits();
  shard_.rebuild(context_);
  require(look_around().text == now.text, "a second rebuild changes what is seen");
  check_drain();
  if (cuts_ % 8 == 0) check_cut_rebuild(cut, now);
  if (!wrong_.empty()) wrong_ += "--- cut and rebuilt\n" + now.text;
}

// A rebuild that is cut itself, and then done.
void CutTrial::check_cut_rebuild(const State& cut, const Sight& rebuilt) {
  for (std::int64_t stores = 0; wrong_.empty(); ++stores) {
    restore(cut);
    if (completes(stores, [&] { shard_.rebuild(context_); })) return;
    ++cuts_;
    shard_.rebuild(context_);
    check_records("after a cut rebuild");
    const Sight now = look_around();
    check_places(now, rebuilt, rebuilt);
    check_lines(now, rebuilt);
    check_tokens();
    if (!wrong_.empty())
      wrong_ += "rebuild cut after store " + std::to_string(stores + 1) + "\n" + now.text;
  }
}

void CutTrial::check_records(const char* when) {
  const std::string wrong = RecordCheck(memory_, head_, shard_, owners_).wrong();
  require(wrong.empty(), std::string("records ") + when + ": " + wrong);
}

// Who would be there with the step and without it is there; who would be in neither case is not.
void CutTrial::check_places(const Sight& now, const Sight& without, const Sight& with) {
  for (const auto& [key, place] : without.places) {
    const auto other = with.places.find(key);
    if (other == with.places.end()) continue;
    const std::string who = "visitor " + std::to_string(key.second.low - 1) + " at " + key.first;
    const auto found = now.places.find(key);
    require(found != now.places.end(), who + " is lost");
    if (found == now.places.end()) continue;
    const Kind kind = found->second.kind;
    auto [low, high] = std::minmax({place.kind, other->second.kind});
    // A lottery may draw anew; who was absent and has asked is there again.
    const bool asks = !operation_.asks.empty() && key.second == visitor_id(operation_.visitor);
    if (asks || without.lotteries.contains(key.first)) high = std::max(high, Kind::handed);
    const bool handed_now = place.fence == 0 || place.fence > stamp_;
    const bool undone = low == Kind::handed && handed_now;  // For want of tokens.
    require((low <= kind || undone) && kind <= high, who + " is what it never was");
    const bool held = place.kind == Kind::holding && place.fence == other->second.fence;
    if (held) require(found->second.fence == place.fence, who + " has another fence");
  }
  for (const auto& [key, place] : now.places) {
    const bool own = !operation_.asks.empty() && key.second == visitor_id(operation_.visitor);
    require(
        own || without.places.contains(key) || with.places.contains(key),
        "visitor " + std::to_string(key.second.low - 1) + " at " + key.first + " is from nowhere");
  }
}

// Every fact is as it was before the step, as it is without it, or as it is with it.
void CutTrial::check_facts(const Sight& now, const Sight& without, const Sight& with) {
  for (const auto& [key, value] : now.facts) {
    if (now.prolonged.contains(key)) continue;
    const auto other = with.facts.find(key);
    if (other == with.facts.end() || other->second == value) continue;  // Nothing to compare with.
    const auto earlier = before_.facts.find(key);
    if (earlier != before_.facts.end() && earlier->second == value) continue;
    const auto old = without.facts.find(key);
    const bool is_new_gate = key.second == "override" && old == without.facts.end();
    const bool known = old != without.facts.end()
                           ? old->second == value
                           : is_new_gate && value == std::to_string(model::kNone);
    require(known, key.first + " " + key.second + " is " + value + " out of nowhere");
  }
}

void CutTrial::check_lines(const Sight& now, const Sight& without) {
  for (const auto& [gate, line] : now.lines) {
    const auto known = without.lines.find(gate);
    if (known == without.lines.end()) continue;
    std::vector<std::ptrdiff_t> ranks;
    for (const VisitorId& visitor : line) {
      const auto found = std::ranges::find(known->second, visitor);
      if (found != known->second.end()) ranks.push_back(found - known->second.begin());
    }
    require(std::ranges::is_sorted(ranks), "the order of the line of " + gate + " changed");
  }
}

// What a group admission adds is added everywhere or nowhere. A gate where it had been handed a slot, or is handed one
// when the step brings the gate up to the present, is no addition.
void CutTrial::check_group(const Sight& now, const Sight& without, const Sight& with) {
  if (operation_.step != Step::admit_all) return;
  const auto kind = [](const Sight& sight, const Ask& ask) {
    const auto found = sight.places.find({gate_text(ask.gate), visitor_id(ask.visitor)});
    return found == sight.places.end() ? Kind::in_line : found->second.kind;
  };
  std::size_t added = 0;
  std::size_t found = 0;
  for (const Ask& ask : operation_.asks) {
    if (kind(without, ask) != Kind::in_line || kind(with, ask) != Kind::holding) continue;
    if (before_.waiting_to_be_handed.contains({gate_text(ask.gate), visitor_id(ask.visitor)}))
      continue;
    ++added;
    found += kind(now, ask) == Kind::holding ? 1 : 0;
  }
  require(found == 0 || found == added, "half of a group was admitted");
}

// Tokens may be lost, never won: there are at most those of before and those of hand-overs that are no more. Who was
// admitted meanwhile has paid.
void CutTrial::check_tokens() {
  if (operation_.step == Step::purge) return;
  const Tokens now = count_tokens();
  std::map<TierKey, std::uint64_t> refunds;
  for (const auto& [key, cost] : tokens_before_.handed) {
    refunds[key.second] += now.handed.contains(key) ? 0 : cost;
  }
  if (operation_.step == Step::refund) {
    for (const auto& [key, before] : tokens_before_.left) {
      refunds[key] += operation_.asks.front().cost;
    }
  }
  std::map<TierKey, std::uint64_t> charges = charged_newcomer();
  for (const auto& [key, cost] : now.handed) {
    if (key.first > stamp_) charges[key.second] += cost;
  }
  for (const auto& [key, charge] : charges) {
    require(now.left.contains(key), "an admission has not paid");
  }
  for (const auto& [key, left] : now.left) {
    const auto found = tokens_before_.left.find(key);
    if (found != tokens_before_.left.end() && found->second.rate != left.rate) continue;
    const std::uint64_t before =
        found == tokens_before_.left.end() ? left.info.limit : found->second.info.remaining;
    require(left.info.remaining + charges[key] <= before + refunds[key],
            "tokens from nowhere: " + std::to_string(before) + " + " +
                std::to_string(refunds[key]) + " - " + std::to_string(charges[key]) + " became " +
                std::to_string(left.info.remaining));
  }
  for (const auto& [key, before] : tokens_before_.left) {
    const auto found = now.left.find(key);
    if (found == now.left.end()) {
      require(before.info.limit <= before.info.remaining + refunds[key],
              "a used tier is forgotten");
    } else if (found->second.rate == before.rate && refunds[key] == 0) {
      require(found->second.info.reset_after >= before.info.reset_after, "time from nowhere");
    }
  }
}

// What the visitor of this step has paid if it came and is in.
std::map<TierKey, std::uint64_t> CutTrial::charged_newcomer() {
  std::map<TierKey, std::uint64_t> charges;
  memory_.for_each_place<model::Visit>(
      model::Region::visits, head_.visits, [&](model::Ref /*ref*/, const model::Visit& visit) {
        if (visit.state() != model::VisitState::holding || visit.stamp() <= stamp_) return;
        const std::string gate(memory_.at<model::Gate>(model::Region::gates, visit.gate).view());
        const std::string who = "visitor " + std::to_string(visit.visitor.low - 1);
        if (before_.facts.contains({gate, who + " weight"})) return;
        for (const Ask& ask : operation_.asks) {
          if (gate_text(ask.gate) != gate || visitor_id(ask.visitor) != visit.visitor) continue;
          for (const Rate& rate : ask.rates) {
            if (rate.algorithm == Rate::Algorithm::no_limit) continue;
            charges[{visit.gate, rate.algorithm, rate.period.count()}] += ask.cost;
          }
        }
      });
  return charges;
}

Tokens CutTrial::count_tokens() {
  Tokens tokens;
  memory_.for_each_place<model::Tier>(
      model::Region::tiers, head_.tiers, [&](model::Ref /*ref*/, const model::Tier& tier) {
        if (tier.state.get() == model::TierState::charged) {
          tokens.left[{tier.owner, tier.algorithm, tier.period}] = {
              tier.rate(), model::weigh(tier.rate(), &tier, 0, context_.now).info};
        }
        if (tier.state.get() != model::TierState::wish) return;
        if (tier.algorithm == Rate::Algorithm::no_limit) return;
        const model::Visit& visit = memory_.at<model::Visit>(model::Region::visits, tier.owner);
        if (visit.state() != model::VisitState::handed) return;
        tokens.handed[{visit.stamp(), {visit.gate, tier.algorithm, tier.period}}] = visit.cost;
      });
  return tokens;
}

// Law 1 for whoever was admitted last.
void CutTrial::check_limits() {
  std::map<model::Ref, const model::Visit*> newest;
  memory_.for_each_place<model::Visit>(
      model::Region::visits, head_.visits, [&](model::Ref /*ref*/, const model::Visit& visit) {
        if (!visit.inside() || visit.stamp() <= stamp_ || visit.weight.get() == 0) return;
        const model::Visit*& place = newest[visit.gate];
        if (place == nullptr || place->stamp() < visit.stamp()) place = &visit;
      });
  for (const auto& [ref, visit] : newest) {
    const auto& gate = memory_.at<model::Gate>(model::Region::gates, ref);
    const std::uint32_t set = gate.limit_override.get();
    const std::uint32_t own = visit->limit.get();
    const std::uint32_t limit =
        set == model::kNone ? own : (visit->exclusive ? std::min(set, own) : set);
    const bool alone = set != model::kNone && gate.in_use == visit->weight.get() && limit > 0;
    require(gate.in_use <= limit || alone, "more than the limit was admitted");
  }
}

// In the end nothing is left, and everything begins anew with higher fences.
void CutTrial::check_drain() {
  model::StepContext later{context_.now, context_.wall, draw_};
  for (const auto wait : {Duration(24h * 400), Duration(11min)}) {
    later.now += wait.count();
    for (std::size_t i = 0; i < profile_.gates; ++i) {
      if (wait == 24h * 400) shard_.set_limit(gate_text(i), gate_hash(gate_text(i)), {}, later);
    }
    shard_.sweep_all(later);
  }
  check_nothing_left();
  const Ask ask{.label = "newcomer", .permits = Permits{.limit = 1}};
  const Request request = ask.request();
  const Answer answer = shard_.admit(request, gate_hash(gate_text(0)), {.owner = 1}, later);
  const auto* granted = std::get_if<Granted>(&answer);
  require(granted != nullptr, "an empty gate does not admit");
  if (granted == nullptr) return;
  require(granted->token.fence > stamp_ && granted->slot == 0U,
          "an old fence, or not the first slot");
  require(shard_.release(granted->token, gate_hash(gate_text(0)), later),
          "what was admitted is not released");
}

void CutTrial::check_nothing_left() {
  const auto used = [](const model::PoolHead& head) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < head.extents.get(); ++i) sum += head.extent[i].used;
    return sum;
  };
  require(used(head_.visits) == 0, "visits are left");
  require(used(head_.tiers) == 0, "tiers are left");
  require(used(head_.pauses) == 0, "pauses are left");
  require(used(head_.slots) == 0, "slot numbers are left");
  require(used(head_.gates) == 0, "gates are left");
  require(head_.gate_index.items == 0 && head_.visit_index.items == 0, "an index is not empty");
  require(!shard_.has_lines(), "a line is left");
}

// --- histories ---

struct Plan {
  Profile profile;
  Fresh fresh = Fresh::zeroes;
  int histories = 0;
  int steps = 0;
};

void cut_at_random(const Plan& plan) {
  const std::uint64_t seed = trial_seed();
  std::uint64_t cuts = 0;
  for (int history = 0; history < plan.histories; ++history) {
    const std::uint64_t number = seed + static_cast<std::uint64_t>(history);
    CutTrial trial(number, plan.profile, plan.fresh);
    std::deque<std::string> last;
    for (int i = 0; i < plan.steps; ++i) {
      const std::string wrong = trial.next();
      last.push_back(std::to_string(i) + ": " + trial.operation().text());
      if (last.size() > 20) last.pop_front();
      if (wrong.empty()) continue;
      std::string story;
      for (const std::string& line : last) story += line + "\n";
      FAIL() << "AIRLOCK_SEED=" << number << " step " << i << "\n" << wrong << story;
    }
    cuts += trial.cuts();
  }
  std::cout << cuts << " cuts" << std::endl;
  EXPECT_GT(cuts, 1'000U);
}

constexpr Profile kFew{.gates = 3, .visitors = 6};
constexpr Profile kCrowd{
    .gates = 1, .visitors = 150, .highest_limit = 130, .crowd = 70, .groups = false};

TEST(ACutStep, HappenedOrDidNot) {
  cut_at_random({.profile = kFew, .histories = 12, .steps = 150});
}

TEST(ACutStep, HappenedOrDidNotWhereOldRecordsWere) {
  cut_at_random({.profile = kFew, .fresh = Fresh::leftovers, .histories = 12, .steps = 150});
}

TEST(ACutStep, HappenedOrDidNotInACrowd) {
  cut_at_random({.profile = kCrowd, .fresh = Fresh::leftovers, .histories = 1, .steps = 110});
}

// --- what is too rare to wait for ---

Ask ask_for(std::size_t gate, std::size_t visitor, bool joins) {
  Ask ask{.gate = gate, .visitor = visitor, .label = "v", .permits = Permits{.limit = 1}};
  ask.line.join = joins;
  return ask;
}

Operation admission(const std::vector<Ask>& asks) {
  return {.step = asks.size() == 1 ? Step::admit : Step::admit_all,
          .asks = asks,
          .gate = asks.front().gate,
          .visitor = asks.front().visitor,
          .owner = asks.front().visitor + 1};
}

void cut_each(const std::vector<Operation>& steps) {
  for (const Fresh fresh : {Fresh::zeroes, Fresh::leftovers}) {
    CutTrial trial(1, kFew, fresh);
    for (const Operation& step : steps) ASSERT_EQ(trial.apply(step), "") << step.text();
  }
}

TEST(ACutStep, LosesNoPlaceOfAGroup) {
  cut_each({
      admission({ask_for(0, 0, false)}),
      admission({ask_for(1, 0, false)}),
      admission({ask_for(0, 1, true)}),
      admission({ask_for(1, 1, true)}),
      {.step = Step::release, .token = 0},
      {.step = Step::release, .token = 1},
      {.step = Step::sweep, .after = 1s},  // Both hand-overs lapse.
      admission({ask_for(0, 1, false), ask_for(1, 1, false), ask_for(2, 1, false)}),
  });
}

TEST(ACutStep, GivesTheTokensOfAHandOverBackOnce) {
  const Operation ends[] = {
      {.step = Step::leave, .visitor = 1},
      {.step = Step::mark_absent, .visitor = 1},
      {.step = Step::revoke, .all = true, .how = Revoke::now},
      {.step = Step::end_owner, .owner = 2},
      {.step = Step::sweep, .after = 1s},
  };
  for (const Operation& end : ends) {
    for (const auto algorithm :
         {Rate::Algorithm::gcra, Rate::Algorithm::sliding_window, Rate::Algorithm::fixed_window}) {
      Ask first = ask_for(0, 0, false);
      Ask second = ask_for(0, 1, true);
      for (Ask* ask : {&first, &second}) {
        ask->rates = {{.count = 7, .period = 1h, .algorithm = algorithm}};
        ask->cost = 2;
      }
      cut_each({admission({first}), admission({second}), {.step = Step::release}, end});
    }
  }
}

}  // namespace
}  // namespace airlock::trial
