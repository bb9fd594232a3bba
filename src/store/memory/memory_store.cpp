#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "airlock/testing.hpp"
#include "base/fork.hpp"
#include "base/hash.hpp"
#include "base/label.hpp"
#include "base/mutex.hpp"
#include "base/per_process.hpp"
#include "base/random.hpp"
#include "model/shard.hpp"
#include "store/memory/heap_memory.hpp"
#include "store/memory/watchers.hpp"
#include "store/validate.hpp"

namespace airlock::memory {
namespace {

using model::Moment;

struct alignas(64) Cell {
  Cell(StoreId store, std::uint32_t number, const model::Label& default_label)
      : draw(base::random31()),
        label(default_label),
        shard(head, memory, watchers, store, number) {}

  // The wall clock to a millisecond; read anew where time stands still, as in tests.
  model::Micros wall_at(model::Micros now, Clock& clock) noexcept {
    constexpr model::Micros kFresh = 1'000;
    if (now - wall_read >= kFresh || now == wall_read) {
      wall_read = now;
      wall_offset = clock.wall().count() - now;
    }
    return now + wall_offset;
  }

  base::Mutex mutex;
  model::Draw draw;
  model::Micros wall_read = 0;
  model::Micros wall_offset = 0;
  model::Label label;
  Watchers watchers;
  HeapMemory memory;
  model::ShardHead head;
  model::Shard shard;
};

// Everything that a forked child must not share.
struct State {
  State(std::uint32_t shards, StoreId id) : generation(base::fork_generation()) {
    const model::Label label(base::default_label());
    for (std::uint32_t i = 0; i < shards; ++i) {
      cells.push_back(std::make_unique<Cell>(id, i, label));
    }
  }

  [[nodiscard]] Cell& cell_of(std::uint64_t hash) const noexcept {
    return *cells[(hash >> 32) * cells.size() >> 32];
  }

  std::uint64_t generation;
  std::vector<std::unique_ptr<Cell>> cells;
};

class MemoryStore final : public Store {
 public:
  MemoryStore(const Options& options, Clock& clock)
      : clock_(clock),
        shards_(options.shards),
        id_(base::random64()),
        seed_(base::random64()),
        state_(new State(options.shards, id_)) {}

  ~MemoryStore() override {
    State* state = state_.load(std::memory_order_acquire);
    if (state->generation == base::fork_generation()) {
      delete state;
    } else {
      base::leave_alone(state);
    }
  }

  StoreId id() override { return id_; }
  Clock& clock() noexcept override { return clock_; }

  Answer admit(const Request& request) override {
    validate(request);
    Step step(*this, request.gate, Stamps::always);
    return step->admit(request, step.hash(), step.asker(), step.moment());
  }

  GroupAnswer admit_all(std::span<const Request> requests) override {
    validate_group(requests);
    std::vector<std::uint32_t> hashes;
    for (const Request& request : requests) {
      hashes.push_back(static_cast<std::uint32_t>(hash_of(request.gate.view())));
    }
    Step step(*this, requests.front().gate, Stamps::always);
    return step->admit_all(requests, hashes, step.asker(), step.moment());
  }

  bool leave(const GateName& gate, const VisitorId& visitor) override {
    Step step(*this, gate);
    return step->leave(gate.view(), step.hash(), visitor, step.moment());
  }

  void refund(const Request& request) override {
    validate(request);
    Step step(*this, request.gate);
    step->refund(request, step.hash(), step.moment());
  }

  using Store::renew;
  void renew(std::span<RenewItem> items) override {
    for (const RenewItem& item : items) {
      check(item.token);
      validate_ttl(item.ttl);
      if (item.weight == 0) throw InvalidArgument("weight 0: a lease weighs at least 1");
    }
    for (RenewItem& item : items) {
      Step step(*this, item.token.gate);
      step->renew(item, step.hash(), step.moment());
    }
  }

  bool release(const Token& token) override {
    check(token);
    State& present = state();
    if (token.place != 0 && model::shard_of(token.place) < present.cells.size()) {
      Step step(*this, *present.cells[model::shard_of(token.place)]);
      if (step->release_at(token, step.moment())) return true;
    }
    Step step(*this, token.gate);
    return step->release(token, step.hash(), step.moment());
  }

  bool disown(const Token& token) override {
    check(token);
    Step step(*this, token.gate);
    return step->disown(token, step.hash(), step.moment());
  }

  std::optional<Granted> adopt(const Token& token) override {
    check(token);
    Step step(*this, token.gate);
    return step->adopt(token, step.hash(), 0, step.moment());
  }

  std::optional<GateView> look(const GateName& gate) override {
    Step step(*this, gate);
    return step->look(gate.view(), step.hash(), step.moment());
  }

  std::vector<GateCounts> counts(std::span<const GateName> gates) override {
    std::vector<GateCounts> result;
    result.reserve(gates.size());
    for (const GateName& gate : gates) {
      Step step(*this, gate);
      result.push_back(step->counts(gate.view(), step.hash(), step.moment()));
    }
    return result;
  }

  std::vector<std::string> list() override {
    std::vector<std::string> names;
    for (auto& cell : state().cells) {
      Step step(*this, *cell);
      step->list(names, step.moment());
    }
    std::ranges::sort(names);
    return names;
  }

  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    if (limit) validate_limit(*limit);
    Step step(*this, gate);
    step->set_limit(gate, step.hash(), limit, step.moment());
  }

  using Store::pause;
  void pause(const GateName& gate, Duration duration, std::string_view reporter) override {
    validate_pause(duration, reporter);
    Step step(*this, gate);
    step->pause(gate, step.hash(), duration, reporter, step.moment());
  }

  using Store::resume;
  bool resume(const GateName& gate, std::string_view reporter) override {
    Step step(*this, gate);
    return step->resume(gate.view(), step.hash(), reporter, step.moment());
  }

  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override {
    Step step(*this, gate);
    return step->revoke(gate.view(), step.hash(), visitor, how, step.moment());
  }

  bool purge(const GateName& gate) override {
    Step step(*this, gate);
    return step->purge(gate.view(), step.hash(), step.moment());
  }

  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    Step step(*this, gate);
    const model::At<model::Visit> visit = step->find_visit(gate.view(), step.hash(), visitor);
    if (!visit || visit->news_pending()) return false;
    step.cell().watchers.add(visit.ref, visitor, changed);
    return true;
  }

  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    std::function<void()> unused;
    Step step(*this, gate);
    const model::At<model::Visit> visit = step->find_visit(gate.view(), step.hash(), visitor);
    unused = step.cell().watchers.remove(visit.ref, visitor, step.lock());
  }

  Recheck recheck() const noexcept override { return {}; }

  void collect() override {
    for (auto& cell : state().cells) {
      Step step(*this, *cell);
      step->sweep_all(step.moment());
    }
  }

 private:
  // Whether the step may need the wall clock: to admit, or to hand over to those who wait.
  enum class Stamps { always, for_lines };

  // One step: under the lock of the gate's cell, at one moment; at its end, unlocked, those who
  // must know are called.
  class Step {
   public:
    Step(MemoryStore& store, const GateName& gate, Stamps stamps = Stamps::for_lines)
        : Step(store, gate, store.hash_of(gate.view()), stamps) {}
    Step(MemoryStore& store, Cell& cell) : Step(store, cell, 0, Stamps::for_lines) {}
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() {
      if (cell_.watchers.any_due()) {
        cell_.watchers.call_due(lock_);
      }
    }

    model::Shard* operator->() noexcept { return &cell_.shard; }
    Cell& cell() noexcept { return cell_; }
    Moment& moment() noexcept { return moment_; }
    std::unique_lock<base::Mutex>& lock() noexcept { return lock_; }
    [[nodiscard]] std::uint32_t hash() const noexcept { return hash_; }
    [[nodiscard]] model::Asker asker() const noexcept {
      return {.owner = 0, .label = &cell_.label};
    }

   private:
    // Gates of a group share a cell; without one the gate's own hash serves for both.
    Step(MemoryStore& store, const GateName& gate, std::uint64_t hash, Stamps stamps)
        : Step(store,
               store.state().cell_of(
                   gate.group().size() == gate.view().size() ? hash : store.hash_of(gate.group())),
               static_cast<std::uint32_t>(hash), stamps) {}
    Step(MemoryStore& store, Cell& cell, std::uint32_t hash, Stamps stamps)
        : cell_(cell),
          hash_(hash),
          lock_(cell.mutex),
          moment_{store.clock_.now().count(), 0, cell.draw} {
      if (stamps == Stamps::always || cell.shard.has_lines()) {
        moment_.wall = cell.wall_at(moment_.now, store.clock_);
      }
    }

    Cell& cell_;
    std::uint32_t hash_;
    std::unique_lock<base::Mutex> lock_;
    Moment moment_;
  };

  // In a forked child the inherited state is neither locked nor freed: its mutexes may be held by
  // threads that are not there.
  State& state() {
    State* state = state_.load(std::memory_order_acquire);
    if (state->generation == base::fork_generation()) [[likely]]
      return *state;
    return fresh_state(state);
  }
  [[gnu::cold, gnu::noinline]] State& fresh_state(State* state) {
    auto fresh = std::make_unique<State>(shards_, id_);
    if (state_.compare_exchange_strong(state, fresh.get(), std::memory_order_acq_rel)) {
      base::leave_alone(state);
      return *fresh.release();
    }
    return *state;
  }

  [[nodiscard]] std::uint64_t hash_of(std::string_view name) const noexcept {
    return base::hash(name, seed_);
  }

  void check(const Token& token) const {
    if (token.store != id_) throw InvalidArgument("the token belongs to another store");
  }

  Clock& clock_;
  std::uint32_t shards_;
  StoreId id_;
  std::uint64_t seed_;
  std::atomic<State*> state_;
};

}  // namespace

std::shared_ptr<Store> make_store(const Options& options, Clock& clock) {
  return std::make_shared<MemoryStore>(options, clock);
}

}  // namespace airlock::memory

namespace airlock::testing {

std::shared_ptr<Store> memory_store(ManualClock& clock) { return memory::make_store({}, clock); }

}  // namespace airlock::testing
