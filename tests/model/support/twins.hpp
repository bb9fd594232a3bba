#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "model/shard.hpp"
#include "model/support/heap_memory.hpp"
#include "model/support/operation.hpp"
#include "model/support/perform.hpp"
#include "model/support/reference_model.hpp"

namespace airlock::trial {

// The rules and their reference side by side: the same steps at the same moments with the same draws. Whatever can be
// seen of the two must be the same.
//
//   Twins twins(seed, profile, Twins::Pace::lazy);
//   std::string difference = twins.apply(operation);      // Empty: none.
//
// Fences and slots need not be the same numbers; they must be good ones.
class Twins {
 public:
  // Lazy: only what a step touches is brought up to the present; gates are kept from being forgotten, since making a
  // new one touches others in passing. Eager: every gate is, before every step.
  enum class Pace { lazy, eager };

  Twins(std::uint32_t seed, const Profile& profile, Pace pace);

  [[nodiscard]] std::string apply(const Operation& operation);

 private:
  class Listener final : public model::Listener {
   public:
    void changed(model::Ref /*ref*/, model::Visit& visit) noexcept override {
      told.insert(visit.visitor);
    }
    bool reachable(const model::Visit& visit) noexcept override {
      return !unreachable.contains(visit.visitor);
    }

    std::set<VisitorId> told;
    std::set<VisitorId> unreachable;
  };

  // A token of the rules and what the reference calls it.
  struct TokenPair {
    Token real;
    Token reference;
  };

  void pass_time(const Operation& operation);
  void settle_all();
  void touch_all();
  [[nodiscard]] TokenPair choose_token(const Operation& operation) const;
  void look_at(const std::string& gate);
  void look_around();
  void check_told();
  void check_grant(const Ask& ask, const Reply& reply);

  void compare(const Reply& real, const Reply& reference);
  void compare(std::monostate /*real*/, std::monostate /*reference*/) {}
  void compare(Rejected /*real*/, Rejected /*reference*/) {}
  void compare(const Answer& real, const Answer& reference);
  void compare(const GroupAnswer& real, const GroupAnswer& reference);
  void compare(const Granted& real, const Granted& reference);
  void compare(const Queued& real, const Queued& reference);
  void compare(const Refused& real, const Refused& reference);
  void compare(const std::optional<Granted>& real, const std::optional<Granted>& reference);
  void compare(bool real, bool reference) { same("reply", real, reference); }
  void compare(std::size_t real, std::size_t reference) { same("reply", real, reference); }
  void compare(Renewal real, Renewal reference) { same("renewal", real, reference); }
  void compare(const RateInfo& real, const RateInfo& reference);
  void compare(const GateView& real, const GateView& reference);
  void compare(const HolderView& real, const HolderView& reference, const std::string& gate);
  void compare(const WaiterView& real, const WaiterView& reference);
  void compare_rates(const GateView& real, const GateView& reference);
  void compare_fences(const std::string& gate, Fence real, Fence reference);
  void check_slots(const GateView& real);
  template <typename T>
  void same(const char* what, const T& real, const T& reference);

  Profile profile_;
  Pace pace_;
  Duration now_ = std::chrono::seconds(1'000);
  Duration wall_ = std::chrono::seconds(1'767'225'600);
  Duration last_touch_{0};
  std::uint64_t steps_ = 0;

  Listener listener_;
  HeapMemory memory_;
  model::ShardHead head_;
  OwnerHeads owners_;
  model::Draw draw_;
  model::Shard shard_;
  model::StepContext context_{0, 0, draw_};
  reference::Model reference_;

  std::deque<TokenPair> tokens_;                          // Newest first.
  std::map<std::string, std::map<Fence, Fence>> fences_;  // Gate -> the reference's -> the rules'.
  std::map<std::pair<std::string, Fence>, Slot> slots_;   // As told when the fence was first seen.
  std::string difference_;
};

}  // namespace airlock::trial
