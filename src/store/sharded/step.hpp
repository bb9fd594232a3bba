#pragma once

#include <cstdint>

#include "airlock/name.hpp"
#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "model/shard.hpp"

namespace airlock::sharded {

// What the steps of one shard need beside it. Used under the shard's lock.
struct StepSource {
  explicit StepSource(const model::Label& default_label) : label(default_label) {}

  // The wall clock to a millisecond; read anew where time stands still, as in tests.
  model::Micros wall_at(model::Micros now, Clock& clock) noexcept {
    constexpr model::Micros kFresh = 1'000;
    if (now - wall_read >= kFresh || now == wall_read) {
      wall_read = now;
      wall_offset = clock.wall().count() - now;
    }
    return now + wall_offset;
  }

  model::Draw draw{base::random31()};
  model::Micros wall_read = 0;
  model::Micros wall_offset = 0;
  model::Label label;
};

// What a step must know of the time. To admit, or to hand over to those who wait in lines: all of
// it, with stamps, which follow the wall clock. To give a lease back where nobody waits: the last
// tick of a few milliseconds ago, for if it ended since then nobody else has its place yet.
enum class StepTime { of_last_tick, exact, and_stamps };

// Where a gate is: a shard of an attachment, and the hash of its name there.
template <typename Attachment, typename ShardView>
struct GateLocation {
  static std::uint64_t hash_of(Attachment& attachment, std::string_view name) noexcept {
    return base::hash(name, attachment.seed());
  }
  // Gates of a group share a shard; without one the gate's own hash serves for both.
  static GateLocation of(Attachment& attachment, const GateName& gate) noexcept {
    const std::uint64_t hash = hash_of(attachment, gate.view());
    const bool is_alone = gate.group().size() == gate.view().size();
    const std::uint64_t of_group = is_alone ? hash : hash_of(attachment, gate.group());
    ShardView& view = *attachment.views[(of_group >> 32) * attachment.views.size() >> 32];
    return {attachment, view, static_cast<std::uint32_t>(hash)};
  }

  Attachment& attachment;
  ShardView& view;
  std::uint32_t hash;
};

// One step at a shard: holds its lock, at one moment. Steps of one store are made by ShardedStore, which says
// what Self, Attachment, ShardView and Guard are.
template <typename Self, typename Attachment, typename ShardView, typename Guard>
class Step {
 public:
  using Location = GateLocation<Attachment, ShardView>;

  Step(Self& self, Attachment& attachment, const GateName& gate)
      : Step(self, Location::of(attachment, gate)) {}
  Step(Self& self, Attachment& attachment, ShardView& view, StepTime time = StepTime::exact,
       Duration at_most = kForever)
      : Step(self, Location{attachment, view, 0}, time, at_most) {}
  [[gnu::always_inline]] explicit Step(Self& self, const Location& location,
                                       StepTime time = StepTime::exact, Duration at_most = kForever)
      : clock_(self.clock()),
        attachment_(location.attachment),
        view_(location.view),
        hash_(location.hash),
        guard_(self, location.attachment, location.view, at_most),
        // First: to read it takes a while, in which what comes next is on its way.
        context_{time == StepTime::of_last_tick ? 0 : clock_.now().count(), 0, view_.draw} {
    const bool may_hand_over = guard_.may_stamp() || view_.shard.has_lines();
    if (time == StepTime::of_last_tick) {
      context_.now = (may_hand_over ? clock_.now() : clock_.recently()).count();
    }
    if (time == StepTime::and_stamps || may_hand_over) {
      context_.wall = view_.wall_at(context_.now, clock_);
    }
    guard_.begin(context_);
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  // Whether the same step is to be made once more, because somebody who was in its way is dead. It
  // is over, unless this is so; each time somebody less is left to be found.
  [[nodiscard]] bool begins_again() {
    if (!view_.has_suspects() || !guard_.looks_again()) return false;
    context_.now = clock_.now().count();
    context_.wall = view_.wall_at(context_.now, clock_);
    guard_.begin(context_);
    return true;
  }

  model::Shard* operator->() noexcept { return &view_.shard; }
  ShardView& view() noexcept { return view_; }
  model::StepContext& context() noexcept { return context_; }
  Guard& guard() noexcept { return guard_; }
  [[nodiscard]] std::uint32_t hash() const noexcept { return hash_; }
  [[nodiscard]] model::Requester requester() const noexcept {
    return {.owner = attachment_.owner(), .label = &view_.label};
  }

 private:
  Clock& clock_;
  Attachment& attachment_;
  ShardView& view_;
  std::uint32_t hash_;
  Guard guard_;
  model::StepContext context_;
};

}  // namespace airlock::sharded
