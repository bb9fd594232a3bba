#pragma once

#include <array>
#include <cstdint>

#include "store/sharded/sharded_store.hpp"
#include "store/shm/process.hpp"
#include "store/shm/segment_memory.hpp"
#include "store/shm/shard_lock.hpp"
#include "store/shm/watchers.hpp"

namespace airlock::shm {

// One shard of a segment as this process sees it. All but `lock` is used under the lock.
class ShardView final : public sharded::StepSource, private model::Listener {
 public:
  ShardView(const Segment& segment, Process& process, std::uint32_t number,
            const model::Label& default_label);

  // Before a step: repairs what a dead owner of the lock left, ends what is bound to the dead, folds
  // in what was given back without the lock.
  void begin(bool to_repair, model::StepContext& context) {
    const bool is_right = !to_repair && !has_deaths() && !has_returned();
    if (!is_right) [[unlikely]]
      put_right(to_repair, context);
  }
  // A step found something that cannot be: the next one repairs it first.
  void note_damage() noexcept { control_.damaged.store(1); }
  [[nodiscard]] bool needs_repair(ShardLock::Taken taken) const noexcept {
    return taken != ShardLock::Taken::clean || control_.damaged.load(kRelaxed) != 0;
  }

  // Gives back without the lock. False: it is not there; look for it.
  [[nodiscard]] bool release_lockfree(const Token& token, model::Micros now);
  // Whether the dead have something here that is to be ended.
  [[nodiscard]] bool has_deaths() const noexcept { return control_.deaths.load(kAcquire) != 0; }
  // Whether that is still to be folded in.
  [[nodiscard]] bool has_returned() const noexcept { return control_.returned.load(kAcquire) != 0; }

  // Whom the step has told something, for after it. More than fit: all are called.
  struct Told {
    static constexpr std::size_t kMost = 32;
    std::array<std::uint32_t, kMost> own;  // Numbers of watches of this process,
    std::size_t own_count = 0;
    std::array<const std::atomic<std::uint32_t>*, kMost> words;  // and on what others sleep.
    std::size_t word_count = 0;
  };
  [[nodiscard]] Told take_told() noexcept;

  // Who may be dead, for after the step.
  struct Suspects {
    static constexpr std::size_t kMost = 32;
    std::array<model::Owner, kMost> owners;
    std::size_t count = 0;
  };
  [[nodiscard]] bool has_suspects() const noexcept { return suspects_.count != 0; }
  [[nodiscard]] Suspects take_suspects() noexcept;

  // Whether there is any of these.
  [[nodiscard]] bool has_more_to_do() const noexcept {
    return told_.own_count + told_.word_count + suspects_.count != 0;
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr auto kAcquire = std::memory_order_acquire;

  void put_right(bool to_repair, model::StepContext& context);
  void changed(model::Ref ref, model::Visit& visit) noexcept override;
  [[nodiscard]] bool reachable(const model::Visit& visit) noexcept override;
  [[nodiscard]] bool wants_suspects(After after, model::Micros& last_look) noexcept override;
  [[nodiscard]] bool suspect(model::Owner owner) noexcept override;
  [[nodiscard]] bool is_dead(model::Owner owner) noexcept override;

  void wake_later(const std::atomic<std::uint32_t>& word) noexcept;
  void repair(model::StepContext& context);
  void end_dead(model::StepContext& context);
  void apply_release(model::StepContext& context);
  void tell(std::uint32_t process, std::uint32_t watch) noexcept;

  const Segment& segment_;
  Process& process_;
  ShardControl& control_;
  SegmentMemory memory_;
  Told told_;
  Suspects suspects_;

 public:
  ShardLock lock;
  model::Shard shard;
};

}  // namespace airlock::shm
