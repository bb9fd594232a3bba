#include "store/shm/shm_store.hpp"

#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "airlock/shm.hpp"
#include "base/fork.hpp"
#include "base/per_process.hpp"
#include "store/shm/examine.hpp"
#include "store/shm/state.hpp"
#include "store/uri.hpp"

namespace airlock::shm {
namespace {

class ShmStore;

class Guard {
 public:
  Guard(ShmStore& store, State& state, Cell& cell);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  // Who gave back while the lock was held has gone, and nobody else may come: its owner looks. One
  // who took it since then has begun with that.
  ~Guard() {
    if (end()) [[unlikely]]
      look_again();
  }

  [[nodiscard]] bool may_stamp() const noexcept { return to_repair_; }
  void begin(model::Moment& moment) {
    cell_.begin(to_repair_, moment);
    if (state_.is_buried()) state_.lose("other processes took this one for dead");
    state_.check(moment.now);
  }

 private:
  // Whether somebody awaited that.
  bool end() noexcept {
    if (model::take_damage()) cell_.note_damage();
    if (!cell_.has_told()) [[likely]]
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
};

class ShmStore final : public sharded::ShardedStore<ShmStore, State, Cell, Guard> {
 public:
  ShmStore(Options options, Clock& clock, std::optional<Surroundings> surroundings)
      : ShardedStore(clock), options_(std::move(options)), surroundings_(std::move(surroundings)) {}

  ~ShmStore() override {
    State* const state = state_.load(std::memory_order_acquire);
    if (state == nullptr) return;
    if (state->is_inherited()) {
      base::leave_alone(state);
    } else {
      state->close();
    }
  }

  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    State& state = this->state();
    state.listen();
    return watch_by(state, gate, visitor,
                    [&] { return state.watches().add(gate, visitor, std::move(changed)); });
  }

  // A clock that a test steps wakes nobody who sleeps on a chair.
  bool await(const GateName& gate, const VisitorId& visitor,
             const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override {
    State& state = this->state();
    Chair chair = state.chair();
    if (!chair || &clock() != &Clock::system()) {
      return Store::await(gate, visitor, sleeper, deadline);
    }
    if (!watch_by(state, gate, visitor, [&] { return chair.number(); })) return true;
    return chair.sleep(*sleeper, deadline);
  }

  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    State* const state = state_.load(std::memory_order_acquire);
    if (state != nullptr && !state->is_inherited()) state->watches().remove(gate, visitor);
  }

  // A death is seen at the latest when the head of a line asks again.
  Recheck recheck() const noexcept override {
    return {.head = std::chrono::milliseconds(25), .others = std::chrono::seconds(1)};
  }

  std::vector<Finding> examine() override {
    State& state = this->state();
    Fullness fullness(state.segment().layout());
    for (std::uint32_t i = 0; i < kShards; ++i) {
      const Step step(*this, state, *state.cells[i]);
      fullness.add(state.segment().control(i).head);
    }
    return shm::examine(state.segment(), state.process(), fullness);
  }

  [[nodiscard]] Duration timeout() const noexcept { return options_.timeout; }

 private:
  friend ShardedStore;

  // From now on who has news for the visitor tells this process, by that number. False: there is.
  template <typename Number>
  bool watch_by(State& state, const GateName& gate, const VisitorId& visitor, Number number) {
    Step step(*this, state, gate);
    const model::At<model::Visit> visit = step->find_visit(gate.view(), step.hash(), visitor);
    if (!visit || visit->news_pending()) return false;
    visit->watch_number.set(number());
    visit->watcher.set(state.owner());
    return true;
  }

  State& state() {
    State* const state = state_.load(std::memory_order_acquire);
    if (state != nullptr && state->is_present()) [[likely]]
      return *state;
    return fresh_state(state);
  }
  State* present() noexcept {
    State* const state = state_.load(std::memory_order_acquire);
    return state != nullptr && state->is_present() ? state : nullptr;
  }
  [[gnu::cold, gnu::noinline]] State& fresh_state(State* state) {
    State* const fresh =
        State::make(options_, surroundings_ ? *surroundings_ : Surroundings::present(), state);
    if (state_.compare_exchange_strong(state, fresh, std::memory_order_acq_rel)) {
      if (state != nullptr && state->is_inherited()) base::leave_alone(state);
      return *fresh;
    }
    fresh->close();
    return *state;
  }

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
};

Guard::Guard(ShmStore& store, State& state, Cell& cell)
    : store_(store),
      state_(state),
      cell_(cell),
      to_repair_(cell.needs_repair(cell.lock.lock(store.timeout()))) {}

bool Guard::end_and_deliver() noexcept {
  const Cell::Told told = cell_.take_told();
  const bool awaited = cell_.lock.unlock();
  state_.deliver(told);
  return awaited;
}

void Guard::look_again() noexcept {
  while (cell_.has_returned() && cell_.lock.try_lock()) {
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

std::shared_ptr<Store> make_store(const Options& options, Clock& clock) {
  return std::make_shared<ShmStore>(options, clock, std::nullopt);
}

std::shared_ptr<Store> make_store(const Options& options, Clock& clock,
                                  const Surroundings& surroundings) {
  return std::make_shared<ShmStore>(options, clock, surroundings);
}

}  // namespace airlock::shm

namespace airlock {

bool remove_shm_store(std::string_view uri) {
  const Uri parsed = Uri::parse(uri);
  if (parsed.store() != StoreKind::shm) {
    throw InvalidArgument("store URI: " + parsed.scheme() + ": is not shared memory");
  }
  return shm::remove_segment(shm::Options::from(parsed));
}

}  // namespace airlock
