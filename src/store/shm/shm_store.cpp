#include "store/shm/shm_store.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "base/fork.hpp"
#include "base/hazard.hpp"
#include "base/per_process.hpp"
#include "store/shm/attachment.hpp"
#include "store/shm/examine.hpp"

namespace airlock::shm {
namespace {

class ShmStore;

class Guard {
 public:
  Guard(ShmStore& store, Attachment& attachment, ShardView& view, Duration at_most);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  // Who gave back while the lock was held has gone, and nobody else may come: its owner looks. One
  // who took it since then has begun with that. The same for what the dead had here.
  [[gnu::always_inline]] ~Guard() {
    if (!is_over_ && end()) [[unlikely]]
      look_again();
  }

  [[nodiscard]] bool may_stamp() const noexcept { return to_repair_; }
  [[gnu::always_inline]] void begin(model::StepContext& context) {
    view_.begin(to_repair_, context);
    if (attachment_.is_marked_dead()) attachment_.lose("other processes considered this one dead");
    attachment_.check(context.now);
  }
  // Ends the step and looks at whom it suspects. True: somebody is dead, and it has the lock again.
  [[nodiscard]] bool looks_again() noexcept;

 private:
  // Whether somebody awaited that, or there is more to be done.
  bool end() noexcept {
    if (model::take_damage()) view_.note_damage();
    if (!view_.has_more_to_do()) [[likely]]
      return view_.lock.unlock();
    return end_and_deliver();
  }
  [[gnu::noinline]] bool end_and_deliver() noexcept;
  [[gnu::cold, gnu::noinline]] void look_again() noexcept;
  void begin_anew() noexcept;

  ShmStore& store_;
  Attachment& attachment_;
  ShardView& view_;
  bool to_repair_;
  bool is_over_ = false;
  bool found_dead_ = false;
};

class ShmStore final : public sharded::ShardedStore<ShmStore, Attachment, ShardView, Guard> {
 public:
  ShmStore(Options options, Clock& clock, std::optional<HostIdentity> host)
      : ShardedStore(clock), options_(std::move(options)), host_(std::move(host)) {}

  ~ShmStore() override {
    end(attachment_.load(std::memory_order_acquire));
    for (Attachment* attachment = retired_.take_all(); attachment != nullptr;) {
      Attachment* const next = attachment->next_retired;
      end(attachment);
      attachment = next;
    }
  }

  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    const Held attachment = this->attachment();
    attachment->listen();
    // Destroyed here, unlocked: what was watched until now.
    return watch_by(*attachment, gate, visitor,
                    [&] { return attachment->watchers().add(gate, visitor, changed); });
  }

  // A clock that a test steps wakes nobody who sleeps on a slot.
  bool await(const GateName& gate, const VisitorId& visitor,
             const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override {
    const Held attachment = this->attachment();
    FutexSlot slot = attachment->slot();
    if (!slot || &clock() != &Clock::system()) {
      return Backend::await(gate, visitor, sleeper, deadline);
    }
    if (!watch_by(*attachment, gate, visitor, [&] { return slot.number(); })) return true;
    return slot.sleep(*sleeper, deadline);
  }

  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    const base::Pinned<Attachment> attachment(attachment_);
    if (attachment && !attachment->is_inherited()) attachment->watchers().remove(gate, visitor);
  }

  // A death is seen at the latest when the head of a line asks again.
  RecheckIntervals recheck_intervals() const noexcept override {
    return {.head = std::chrono::milliseconds(25), .others = std::chrono::seconds(1)};
  }

  std::vector<Finding> examine() override {
    const Held attachment = this->attachment();
    Fullness fullness(attachment->segment().layout());
    for (std::uint32_t i = 0; i < kShards; ++i) {
      const Step step(*this, *attachment, *attachment->views[i]);
      fullness.add(attachment->segment().control(i).head);
    }
    return shm::examine(attachment->segment(), attachment->process(), fullness);
  }

  [[nodiscard]] Duration timeout() const noexcept override { return options_.timeout; }

 private:
  friend ShardedStore;

  // The attachment of this process, attached if it is yet to be, and kept until its user is done.
  class Held : public base::Pinned<Attachment> {
   public:
    template <typename Before>
    [[gnu::always_inline]] Held(ShmStore& store, Before before) : Pinned(store.attachment_) {
      while (get() == nullptr || !get()->is_present()) [[unlikely]] {
          before();
          Attachment* const replaced = store.replace(get());
          pin_again(store.attachment_);
          if (replaced != nullptr) store.retire(replaced);
        }
    }
  };

  // From now on whoever has news for the visitor notifies this process, by that number. False: there is
  // news, or nobody will bring it.
  template <typename Number>
  bool watch_by(Attachment& attachment, const GateName& gate, const VisitorId& visitor,
                Number number) {
    Step step(*this, attachment, gate);
    const model::At<model::Visit> visit = step->find_visit(gate.view(), step.hash(), visitor);
    if (!visit || visit->news_pending()) return false;
    visit->watch_number.set(number());
    visit->watcher.set(attachment.owner());
    return attachment.is_present();
  }

  [[gnu::noinline]] Held attachment() {
    return Held(*this, [] {});
  }
  // Where every instruction counts.
  template <typename Before>
  [[gnu::always_inline]] Held attachment(Before before) {
    return Held(*this, before);
  }

  // Attaches. Of several threads one succeeds, and the others use its attachment. Returns what it replaced.
  [[gnu::cold, gnu::noinline]] Attachment* replace(Attachment* old) {
    Attachment* const fresh =
        Attachment::make(options_, host_ ? *host_ : HostIdentity::present(), old);
    Attachment* expected = old;
    if (attachment_.compare_exchange_strong(expected, fresh)) return old;
    fresh->close();
    return nullptr;
  }

  // Others may be in the middle of a step on it.
  [[gnu::cold, gnu::noinline]] void retire(Attachment* old) noexcept {
    if (old->is_inherited()) return base::leave_alone(old);
    old->abandon();
    retired_.push(old);
    retired_.reclaim([](Attachment* attachment) {
      if (attachment->is_inherited()) {
        base::leave_alone(attachment);
        return true;
      }
      if (!attachment->is_quiet()) return false;
      attachment->close();
      return true;
    });
  }

  static void end(Attachment* attachment) noexcept {
    if (attachment == nullptr) return;
    if (attachment->is_inherited()) return base::leave_alone(attachment);
    attachment->close();
  }

  static bool is_busy(const ShardView& view) noexcept { return !view.lock.is_free(); }

  // A stopped owner of the lock keeps nobody from giving back. It folds that in when it goes on, or
  // whoever comes after it; if the lock is free by now, this thread.
  bool release_without_lock(Attachment& attachment, ShardView& view, const Token& token) {
    if (view.lock.is_free_soon()) return false;
    if (!view.release_lockfree(token, clock().now().count())) return false;
    if (view.lock.await_unlock()) return true;
    try {
      Step step(*this, attachment, view);
    } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): it is given back all the same
    }
    return true;
  }

  const Options options_;
  const std::optional<HostIdentity> host_;
  std::atomic<Attachment*> attachment_ = nullptr;
  base::Retired<Attachment> retired_;
};

Guard::Guard(ShmStore& store, Attachment& attachment, ShardView& view, Duration at_most)
    : store_(store),
      attachment_(attachment),
      view_(view),
      to_repair_(view.needs_repair(view.lock.lock(std::min(store.timeout(), at_most)))) {}

bool Guard::end_and_deliver() noexcept {
  const ShardView::Told told = view_.take_told();
  const ShardView::Suspects suspects = view_.take_suspects();
  const bool awaited = view_.lock.unlock();
  attachment_.deliver(told);
  found_dead_ = suspects.count != 0 && attachment_.any_dead(suspects);
  return awaited || found_dead_;
}

// Without the lock the step is over and its answer stands: the next one finds what is dead.
bool Guard::looks_again() noexcept {
  is_over_ = true;
  const bool has_more_to_do = end();
  if (!found_dead_) {
    if (has_more_to_do) look_again();
    return false;
  }
  try {
    to_repair_ = view_.needs_repair(view_.lock.lock(store_.timeout()));
  } catch (const StoreError&) {
    return false;
  }
  is_over_ = false;
  return true;
}

void Guard::look_again() noexcept {
  while ((view_.has_returned() || view_.has_deaths()) && view_.lock.try_lock()) {
    begin_anew();
    if (!end()) return;
  }
}

void Guard::begin_anew() noexcept {
  to_repair_ = view_.needs_repair(ShardLock::Taken::clean);
  const model::Micros now = store_.clock().now().count();
  model::StepContext context{now, view_.wall_at(now, store_.clock()), view_.draw};
  try {
    begin(context);
  } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): it is for others that this looks
  }
}

}  // namespace

Store make_store(const Options& options, Clock& clock) {
  return internal::Handle::to(std::make_shared<ShmStore>(options, clock, std::nullopt));
}

Store make_store(const Options& options, Clock& clock, const HostIdentity& host) {
  return internal::Handle::to(std::make_shared<ShmStore>(options, clock, host));
}

}  // namespace airlock::shm
