#include "store/memory/memory_store.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include "base/fork.hpp"
#include "base/label.hpp"
#include "base/locks.hpp"
#include "base/mutex.hpp"
#include "base/per_process.hpp"
#include "base/random.hpp"
#include "model/shard.hpp"
#include "store/memory/heap_memory.hpp"
#include "store/memory/watchers.hpp"
#include "store/sharded/sharded_store.hpp"

namespace airlock::memory {
namespace {

struct alignas(64) ShardView : sharded::StepSource {
  ShardView(StoreId store, std::uint32_t number, const model::Label& default_label)
      : StepSource(default_label), shard(head, memory, watchers, store, number) {}

  static constexpr bool has_suspects() noexcept { return false; }

  base::Mutex mutex;
  Watchers watchers;
  HeapMemory memory;
  model::ShardHead head;
  model::Shard shard;
};

// Everything that a forked child must not share.
class Attachment {
 public:
  Attachment(std::uint32_t shards, StoreId id, std::uint64_t seed)
      : generation_(base::fork_generation()), id_(id), seed_(seed) {
    const model::Label label(base::default_label());
    for (std::uint32_t i = 0; i < shards; ++i) {
      views.push_back(std::make_unique<ShardView>(id, i, label));
    }
  }

  // In this process.
  [[nodiscard]] bool is_present() const noexcept { return generation_ == base::fork_generation(); }

  [[nodiscard]] StoreId id() const noexcept { return id_; }
  [[nodiscard]] bool knows(StoreId id) const noexcept { return id == id_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] static model::Owner owner() noexcept { return 0; }

  std::vector<std::unique_ptr<ShardView>> views;

 private:
  const std::uint64_t generation_;
  const StoreId id_;
  const std::uint64_t seed_;
};

class MemoryStore;

class Guard {
 public:
  Guard(MemoryStore& /*store*/, Attachment& /*attachment*/, ShardView& view, Duration /*at_most*/)
      : view_(view), lock_(view.mutex) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() {
    view_.mutex.assert_held();
    if (view_.watchers.any_due()) view_.watchers.call_due(view_.mutex);
  }

  static bool may_stamp() noexcept { return false; }
  static void begin(model::StepContext& /*context*/) noexcept {}
  static bool looks_again() noexcept { return false; }

 private:
  ShardView& view_;
  const base::LockGuard<base::Mutex> lock_;
};

class MemoryStore final : public sharded::ShardedStore<MemoryStore, Attachment, ShardView, Guard> {
 public:
  MemoryStore(const Options& options, Clock& clock)
      : ShardedStore(clock),
        attachment_(new Attachment(options.shards, base::random64(), base::random64())) {}

  ~MemoryStore() override {
    Attachment* attachment = attachment_.load(std::memory_order_acquire);
    if (attachment->is_present()) {
      delete attachment;
    } else {
      base::leave_alone(attachment);
    }
  }

  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    Watchers::Key key{std::string(gate.view()), visitor};
    Step step(*this, *attachment(), gate);
    const model::At<model::Visit> visit = step->find_visit(gate.view(), step.hash(), visitor);
    if (!visit || visit->news_pending()) return false;
    step.view().watchers.add(visit.ref, std::move(key), changed);
    return true;
  }

  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    std::function<void()> unused;
    Step step(*this, *attachment(), gate);
    const model::At<model::Visit> visit = step->find_visit(gate.view(), step.hash(), visitor);
    ShardView& view = step.view();
    view.mutex.assert_held();
    unused = view.watchers.remove(visit.ref, {gate.view(), visitor}, view.mutex);
  }

  RecheckIntervals recheck_intervals() const noexcept override { return {}; }

 private:
  friend ShardedStore;

  // In a forked child the inherited state is neither locked nor freed: its mutexes may be held by
  // threads that are not there.
  Attachment* attachment() {
    Attachment* const attachment = attachment_.load(std::memory_order_acquire);
    if (attachment->is_present()) [[likely]]
      return attachment;
    return fresh_attachment(attachment);
  }
  template <typename Before>
  Attachment* attachment(Before /*before*/) {
    return attachment();
  }
  [[gnu::cold, gnu::noinline]] Attachment* fresh_attachment(Attachment* attachment) {
    auto fresh = std::make_unique<Attachment>(static_cast<std::uint32_t>(attachment->views.size()),
                                              attachment->id(), attachment->seed());
    if (attachment_.compare_exchange_strong(attachment, fresh.get(), std::memory_order_acq_rel)) {
      base::leave_alone(attachment);
      return fresh.release();
    }
    return attachment;
  }

  static bool is_busy(const ShardView& /*view*/) noexcept { return false; }  // Never for long.
  static bool release_without_lock(Attachment& /*attachment*/, ShardView& /*view*/,
                                   const Token& /*token*/) noexcept {
    return false;
  }

  std::atomic<Attachment*> attachment_;
};

}  // namespace

Store make_store(const Options& options, Clock& clock) {
  return internal::Handle::to(std::make_shared<MemoryStore>(options, clock));
}

}  // namespace airlock::memory
