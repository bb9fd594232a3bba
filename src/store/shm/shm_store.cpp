#include "store/shm/shm_store.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "base/fork.hpp"
#include "base/hazard.hpp"
#include "base/per_process.hpp"
#include "store/shm/examine.hpp"
#include "store/shm/state.hpp"

namespace airlock::shm {
namespace {

class ShmStore;

class Guard {
 public:
  Guard(ShmStore& store, State& state, Cell& cell, Duration at_most);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  // Who gave back while the lock was held has gone, and nobody else may come: its owner looks. One
  // who took it since then has begun with that. The same for what the dead had here.
  [[gnu::always_inline]] ~Guard() {
    if (!is_over_ && end()) [[unlikely]]
      look_again();
  }

  [[nodiscard]] bool may_stamp() const noexcept { return to_repair_; }
  [[gnu::always_inline]] void begin(model::Moment& moment) {
    cell_.begin(to_repair_, moment);
    if (state_.is_buried()) state_.lose("other processes took this one for dead");
    state_.check(moment.now);
  }
  // Ends the step and looks at whom it suspects. True: somebody is dead, and it has the lock again.
  [[nodiscard]] bool looks_again() noexcept;

 private:
  // Whether somebody awaited that, or there is more to be done.
  bool end() noexcept {
    if (model::take_damage()) cell_.note_damage();
    if (!cell_.has_more_to_do()) [[likely]]
      return cell_.lock.unlock();
    return end_and_deliver();
  }
  [[gnu::noinline]] bool end_and_deliver() noexcept;
  [[gnu::cold, gnu::noinline]] void look_again() noexcept;
  void begin_anew() noexcept;

  ShmStore& store_;
  State& state_;
  Cell& cell_;
  bool to_repair_;
  bool is_over_ = false;
  bool found_dead_ = false;
};

class ShmStore final : public sharded::ShardedStore<ShmStore, State, Cell, Guard> {
 public:
  ShmStore(Options options, Clock& clock, std::optional<Surroundings> surroundings)
      : ShardedStore(clock), options_(std::move(options)), surroundings_(std::move(surroundings)) {}

  ~ShmStore() override {
    end(state_.load(std::memory_order_acquire));
    for (State* state = retired_.take_all(); state != nullptr;) {
      State* const next = state->next_retired;
      end(state);
      state = next;
    }
  }

  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    const Held state = this->state();
    state->listen();
    // Destroyed here, unlocked: what was watched until now.
    return watch_by(*state, gate, visitor,
                    [&] { return state->watches().add(gate, visitor, changed); });
  }

  // A clock that a test steps wakes nobody who sleeps on a chair.
  bool await(const GateName& gate, const VisitorId& visitor,
             const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override {
    const Held state = this->state();
    Chair chair = state->chair();
    if (!chair || &clock() != &Clock::system()) {
      return Backend::await(gate, visitor, sleeper, deadline);
    }
    if (!watch_by(*state, gate, visitor, [&] { return chair.number(); })) return true;
    return chair.sleep(*sleeper, deadline);
  }

  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    const base::Pinned<State> state(state_);
    if (state && !state->is_inherited()) state->watches().remove(gate, visitor);
  }

  // A death is seen at the latest when the head of a line asks again.
  Recheck recheck() const noexcept override {
    return {.head = std::chrono::milliseconds(25), .others = std::chrono::seconds(1)};
  }

  std::vector<Finding> examine() override {
    const Held state = this->state();
    Fullness fullness(state->segment().layout());
    for (std::uint32_t i = 0; i < kShards; ++i) {
      const Step step(*this, *state, *state->cells[i]);
      fullness.add(state->segment().control(i).head);
    }
    return shm::examine(state->segment(), state->process(), fullness);
  }

  [[nodiscard]] Duration timeout() const noexcept { return options_.timeout; }

 private:
  friend ShardedStore;

  // The state of this process, attached if it is yet to be, and kept until its user is done.
  class Held : public base::Pinned<State> {
   public:
    template <typename Before>
    [[gnu::always_inline]] Held(ShmStore& store, Before before) : Pinned(store.state_) {
      while (get() == nullptr || !get()->is_present()) [[unlikely]] {
          before();
          State* const replaced = store.replace(get());
          pin_again(store.state_);
          if (replaced != nullptr) store.retire(replaced);
        }
    }
  };

  // From now on whoever has news for the visitor notifies this process, by that number. False: there is
  // news, or nobody will bring it.
  template <typename Number>
  bool watch_by(State& state, const GateName& gate, const VisitorId& visitor, Number number) {
    Step step(*this, state, gate);
    const model::At<model::Visit> visit = step->find_visit(gate.view(), step.hash(), visitor);
    if (!visit || visit->news_pending()) return false;
    visit->watch_number.set(number());
    visit->watcher.set(state.owner());
    return state.is_present();
  }

  [[gnu::noinline]] Held state() {
    return Held(*this, [] {});
  }
  // Where every instruction counts.
  template <typename Before>
  [[gnu::always_inline]] Held state(Before before) {
    return Held(*this, before);
  }

  // Attaches. Of several threads one succeeds, and the others use its state. Returns what it replaced.
  [[gnu::cold, gnu::noinline]] State* replace(State* old) {
    State* const fresh =
        State::make(options_, surroundings_ ? *surroundings_ : Surroundings::present(), old);
    State* expected = old;
    if (state_.compare_exchange_strong(expected, fresh)) return old;
    fresh->close();
    return nullptr;
  }

  // Others may be in the middle of a step on it.
  [[gnu::cold, gnu::noinline]] void retire(State* old) noexcept {
    if (old->is_inherited()) return base::leave_alone(old);
    old->abandon();
    retired_.push(old);
    retired_.reclaim([](State* state) {
      if (state->is_inherited()) {
        base::leave_alone(state);
        return true;
      }
      if (!state->is_quiet()) return false;
      state->close();
      return true;
    });
  }

  static void end(State* state) noexcept {
    if (state == nullptr) return;
    if (state->is_inherited()) return base::leave_alone(state);
    state->close();
  }

  static bool is_busy(const Cell& cell) noexcept { return !cell.lock.is_free(); }

  // A stopped owner of the lock keeps nobody from giving back. It folds that in when it goes on, or
  // whoever comes after it; if the lock is free by now, this thread.
  bool released_aside(State& state, Cell& cell, const Token& token) {
    if (cell.lock.is_free_soon()) return false;
    if (!cell.give_up(token, clock().now().count())) return false;
    if (cell.lock.await_unlock()) return true;
    try {
      Step step(*this, state, cell);
    } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): it is given back all the same
    }
    return true;
  }

  const Options options_;
  const std::optional<Surroundings> surroundings_;
  std::atomic<State*> state_ = nullptr;
  base::Retired<State> retired_;
};

Guard::Guard(ShmStore& store, State& state, Cell& cell, Duration at_most)
    : store_(store),
      state_(state),
      cell_(cell),
      to_repair_(cell.needs_repair(cell.lock.lock(std::min(store.timeout(), at_most)))) {}

bool Guard::end_and_deliver() noexcept {
  const Cell::Told told = cell_.take_told();
  const Cell::Suspects suspects = cell_.take_suspects();
  const bool awaited = cell_.lock.unlock();
  state_.deliver(told);
  found_dead_ = suspects.count != 0 && state_.any_dead(suspects);
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
    to_repair_ = cell_.needs_repair(cell_.lock.lock(store_.timeout()));
  } catch (const StoreError&) {
    return false;
  }
  is_over_ = false;
  return true;
}

void Guard::look_again() noexcept {
  while ((cell_.has_returned() || cell_.has_deaths()) && cell_.lock.try_lock()) {
    begin_anew();
    if (!end()) return;
  }
}

void Guard::begin_anew() noexcept {
  to_repair_ = cell_.needs_repair(ShardLock::Taken::clean);
  const model::Micros now = store_.clock().now().count();
  model::Moment moment{now, cell_.wall_at(now, store_.clock()), cell_.draw};
  try {
    begin(moment);
  } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): it is for others that this looks
  }
}

}  // namespace

Store make_store(const Options& options, Clock& clock) {
  return internal::Handle::to(std::make_shared<ShmStore>(options, clock, std::nullopt));
}

Store make_store(const Options& options, Clock& clock, const Surroundings& surroundings) {
  return internal::Handle::to(std::make_shared<ShmStore>(options, clock, surroundings));
}

}  // namespace airlock::shm
