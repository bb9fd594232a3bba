#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "model/records.hpp"
#include "model/shard.hpp"
#include "model/support/image_memory.hpp"
#include "model/support/perform.hpp"

namespace airlock::trial {

// Reads the records of a shard directly and says what is wrong with them; empty: nothing.
class RecordCheck {
 public:
  RecordCheck(ImageMemory& memory, const model::ShardHead& head, const model::Shard& shard,
              const OwnerHeads& owners)
      : memory_(memory), head_(head), shard_(shard), owners_(owners) {}

  [[nodiscard]] std::string wrong() {
    check_pool<model::Gate>("gates", model::Region::gates, head_.gates);
    check_pool<model::Visit>("visits", model::Region::visits, head_.visits);
    check_pool<model::Tier>("tiers", model::Region::tiers, head_.tiers);
    check_pool<model::Pause>("pauses", model::Region::pauses, head_.pauses);
    check_pool<model::SlotNode>("slots", model::Region::slots, head_.slots);
    if (wrong_.empty()) check_visits();
    if (wrong_.empty()) check_owners();
    if (wrong_.empty()) check_gates();
    if (wrong_.empty()) check_tiers();
    if (wrong_.empty()) check_pauses();
    return wrong_;
  }

 private:
  struct Sums {
    std::uint32_t in_use = 0;
    std::uint32_t holders = 0;
    std::uint32_t visits = 0;
    std::uint64_t low_slots = 0;
  };

  void require(bool holds, const std::string& what) {
    if (!holds) wrong_ += what + "\n";
  }

  model::Gate& gate(model::Ref ref) { return memory_.at<model::Gate>(model::Region::gates, ref); }

  // Free records, and only those, are on the free list of their extent.
  template <typename T>
  void check_pool(const std::string& name, model::Region region, const model::PoolHead& head) {
    using Array = model::ExtentArray<T>;
    for (std::uint32_t number = 0; number < head.extents.get(); ++number) {
      const auto& extent = head.extent[number];
      std::uint32_t used = 0;
      const std::uint32_t fresh = extent.fresh.get();
      const model::Ref start = Array::start_of(number);
      for (std::uint32_t i = 0; i < fresh; ++i) {
        if (!memory_.extent<T>(region, number)[i].is_free()) ++used;
      }
      require(used == extent.used, name + ": used is wrong");
      std::uint32_t listed = 0;
      for (model::Ref ref = extent.free; ref != model::kNone && listed <= fresh; ++listed) {
        require(ref >= start && ref - start < fresh, name + ": the free list leaves its extent");
        if (!wrong_.empty()) return;
        require(memory_.at<T>(region, ref).is_free(),
                name + ": a record in use is on the free list");
        ref = memory_.at<T>(region, ref).link;
      }
      require(listed == fresh - used, name + ": the free list has " + std::to_string(listed) +
                                          " of " + std::to_string(fresh - used));
      const bool open = (head.open >> number & 1U) != 0;
      require(open == (used < Array::size_of(number)), name + ": open is wrong");
    }
  }

  void check_visits() {
    std::set<std::pair<model::Ref, VisitorId>> seen;
    std::set<std::pair<model::Ref, std::uint32_t>> slots;
    std::set<std::uint64_t> stamps;
    memory_.for_each_place<model::Visit>(
        model::Region::visits, head_.visits, [&](model::Ref ref, const model::Visit& visit) {
          if (visit.is_free()) return;
          require(visit.state() <= model::VisitState::spent, "a visit is neither here nor there");
          require(!gate(visit.gate).is_free(), "a visit has no gate");
          require(seen.emplace(visit.gate, visit.visitor).second, "two visits of one visitor");
          require(stamps.insert(visit.stamp()).second, "two visits have the same stamp");
          require(visit.stamp() <= head_.stamp.get(), "a stamp is above the shard's");
          const std::string name(gate(visit.gate).view());
          const auto found = shard_.find_visit(name, gate_hash(name), visit.visitor);
          require(found.ref == ref, "the index does not find a visit");
          Sums& sums = sums_[visit.gate];
          ++sums.visits;
          waiters_ += visit.in_line() ? 1 : 0;
          if (!visit.inside()) return;
          require(visit.state() != model::VisitState::handed ||
                      visit.expiry.get() - visit.granted_at.get() <= visit.claim_window,
                  "a hand-over outlasts its window");
          ++sums.holders;
          sums.in_use += visit.weight.get();
          const std::uint32_t slot = visit.slot.get();
          require((slot != model::kNone) == (visit.weight.get() == 1),
                  "a slot too many or too few");
          if (slot == model::kNone) return;
          require(slots.emplace(visit.gate, slot).second, "a slot is taken twice");
          if (slot < 64) sums.low_slots |= std::uint64_t{1} << slot;
        });
    require(waiters_ == head_.waiters, "waiters are miscounted");
  }

  // Every bound visit, and nothing else, is in the list of its owner.
  void check_owners() {
    std::set<model::Ref> listed;
    for (std::uint32_t number = 0; number < owners_.heads.size(); ++number) {
      model::Ref before = model::kNone;
      for (model::Ref ref = owners_.heads[number] - 1; ref != model::kNone && wrong_.empty();) {
        const model::Visit& visit = memory_.at<model::Visit>(model::Region::visits, ref);
        require(!visit.is_free(), "a free visit has an owner");
        require(model::number_of(visit.owner.get()) == number, "a visit is in another's list");
        require(visit.owner_prev == before, "a list of an owner does not lead back");
        require(listed.insert(ref).second, "a visit is listed twice");
        before = std::exchange(ref, visit.owner_next);
      }
    }
    memory_.for_each_place<model::Visit>(
        model::Region::visits, head_.visits, [&](model::Ref ref, const model::Visit& visit) {
          const bool owned =
              !visit.is_free() && model::number_of(visit.owner.get()) < owners_.heads.size();
          require(owned == listed.contains(ref), "a visit is not in the list of its owner");
        });
  }

  void check_gates() {
    memory_.for_each_place<model::Gate>(
        model::Region::gates, head_.gates, [&](model::Ref ref, const model::Gate& gate) {
          if (gate.is_free()) return;
          const Sums& sums = sums_[ref];
          require(gate.in_use == sums.in_use, "in_use is not the sum of the weights");
          require(gate.holders == sums.holders, "holders are miscounted");
          require(gate.visits == sums.visits, "visits are miscounted");
          require(gate.low_slots == sums.low_slots, "a slot leaked");
        });
  }

  // Every tier is in use by a gate, or wished for by one visit.
  void check_tiers() {
    std::set<model::Ref> reached;
    const auto follow = [&](model::Ref ref, model::TierState state) {
      for (; ref != model::kNone && wrong_.empty();
           ref = memory_.at<model::Tier>(model::Region::tiers, ref).next) {
        require(reached.insert(ref).second, "a tier is in two lists");
        require(memory_.at<model::Tier>(model::Region::tiers, ref).state.get() == state,
                "a tier of the wrong kind is in a list");
      }
    };
    memory_.for_each_place<model::Gate>(model::Region::gates, head_.gates,
                                        [&](model::Ref /*ref*/, const model::Gate& gate) {
                                          if (!gate.is_free())
                                            follow(gate.tiers, model::TierState::charged);
                                        });
    memory_.for_each_place<model::Visit>(
        model::Region::visits, head_.visits, [&](model::Ref /*ref*/, const model::Visit& visit) {
          if (!visit.is_free()) follow(visit.requested_rates.get(), model::TierState::wish);
        });
    memory_.for_each_place<model::Tier>(
        model::Region::tiers, head_.tiers, [&](model::Ref ref, const model::Tier& tier) {
          require(tier.is_free() != reached.contains(ref), "a tier leaked");
        });
  }

  void check_pauses() {
    std::set<model::Ref> reached;
    memory_.for_each_place<model::Gate>(
        model::Region::gates, head_.gates, [&](model::Ref /*ref*/, const model::Gate& gate) {
          if (gate.is_free()) return;
          model::Ref ref = gate.pauses;
          while (ref != model::kNone && reached.insert(ref).second) {
            ref = memory_.at<model::Pause>(model::Region::pauses, ref).next;
          }
        });
    memory_.for_each_place<model::Pause>(
        model::Region::pauses, head_.pauses, [&](model::Ref ref, const model::Pause& pause) {
          require(pause.is_free() != reached.contains(ref), "a pause leaked");
        });
  }

  ImageMemory& memory_;
  const model::ShardHead& head_;
  const model::Shard& shard_;
  const OwnerHeads& owners_;
  std::map<model::Ref, Sums> sums_;
  std::uint32_t waiters_ = 0;
  std::string wrong_;
};

}  // namespace airlock::trial
