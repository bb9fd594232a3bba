#include "contract/support/shm_remote_clients.hpp"

#include <sched.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "airlock/error.hpp"
#include "base/futex.hpp"
#include "store/forwarding_backend.hpp"
#include "store/shm/segment.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock::contract {
namespace {

constexpr std::size_t kClients = 2;
constexpr std::size_t kMaxItems = 8;
constexpr std::size_t kMaxRatesSent = 32;
constexpr std::size_t kMaxWatches = 256;

static_assert(std::is_trivially_copyable_v<Answer> && std::is_trivially_copyable_v<Token>);

// Time that all processes see.
class SharedClock final : public Clock {
 public:
  Instant now() noexcept override { return now_; }
  Instant wall() noexcept override { return wall_; }
  void wait_until(std::unique_lock<std::mutex>& /*lock*/, std::condition_variable& /*changed*/,
                  Instant /*deadline*/) override {
    std::abort();  // Nothing in these tests waits by the clock.
  }
  void advance(Duration duration) {
    now_ = now_.load() + duration;
    wall_ = wall_.load() + duration;
  }
  void jump_wall(Duration by) { wall_ = wall_.load() + by; }

 private:
  std::atomic<Instant> now_{std::chrono::seconds(1'000)};
  std::atomic<Instant> wall_{std::chrono::seconds(1'767'225'600)};
};

enum class Failure : std::uint8_t { none, invalid, store };

// A step as it is passed to a party and back. Same program, same addresses: plain bytes will do.
struct Call {
  std::atomic<std::uint32_t> state;  // 1: asked, 2: answered.
  void (*step)(Call& call, const Store& store);
  void* arena;

  std::size_t count;
  std::array<std::optional<Request>, kMaxItems> requests;
  std::array<std::array<Rate, kMaxRatesSent>, kMaxItems> rates;
  std::array<std::array<char, 4096>, kMaxItems> labels;
  std::array<std::optional<RenewItem>, kMaxItems> items;
  std::optional<Token> token;
  std::optional<GateName> gate;
  VisitorId visitor;
  std::size_t watch;

  std::optional<Answer> answer;
  std::size_t granted_count, at;
  std::array<std::optional<Granted>, kMaxItems> granted;
  std::variant<std::monostate, Queued, Refused> because;
  bool yes;
  Failure failure;
  StoreError::Kind kind;
  StoreError::Outcome outcome;
  std::array<char, 500> text;

  void put(std::size_t at_item, const Request& request) {
    Request copy = request;
    const std::size_t size = std::min(request.label.size(), labels[at_item].size());
    request.label.copy(labels[at_item].data(), size);
    copy.label = {labels[at_item].data(), size};
    const std::size_t n = std::min(request.rates.size(), kMaxRatesSent);
    std::copy_n(request.rates.begin(), n, rates[at_item].begin());
    copy.rates = {rates[at_item].data(), n};
    requests[at_item].emplace(copy);
  }
};

struct Arena {
  SharedClock clock;
  std::array<Call, kClients> calls;
  std::array<std::atomic<bool>, kMaxWatches> fired;
};

class RemoteClientsStore final : public internal::ForwardingBackend {
 public:
  RemoteClientsStore(Arena& arena, shm::Options options)
      : ForwardingBackend(internal::backend_of(shm::make_store(options, arena.clock))),
        arena_(arena) {
    for (std::size_t i = 0; i < kClients; ++i) {
      clients_.emplace_back([this, i, &options] { serve(arena_.calls[i], options); });
    }
    segment_.emplace(options, shm::HostIdentity::present());
    caller_ = std::thread([this] {
      while (!stopping_) {
        call_fired();
        usleep(200);
      }
    });
  }
  ~RemoteClientsStore() override {
    stopping_ = true;
    caller_.join();
  }

  Answer admit(const Request& request) override {
    const std::lock_guard turn(turn_);
    Call& call = call_of(request.visitor);
    call.put(0, request);
    ask(call, [](Call& c, const Store& store) { c.answer.emplace(store.admit(*c.requests[0])); });
    return *call.answer;
  }
  GroupAnswer admit_all(std::span<const Request> requests) override {
    if (requests.empty() || requests.size() > kMaxItems) return inner().admit_all(requests);
    const std::lock_guard turn(turn_);
    Call& call = call_of(requests.front().visitor);
    call.count = requests.size();
    for (std::size_t i = 0; i < requests.size(); ++i) call.put(i, requests[i]);
    ask(call, [](Call& c, const Store& store) {
      std::vector<Request> all;
      for (std::size_t i = 0; i < c.count; ++i) all.push_back(*c.requests[i]);
      const GroupAnswer answer = store.admit_all(all);
      c.granted_count = answer.granted.size();
      for (std::size_t i = 0; i < c.granted_count; ++i) c.granted[i].emplace(answer.granted[i]);
      c.at = answer.at;
      c.because = answer.because;
    });
    GroupAnswer answer{.at = call.at, .because = call.because};
    for (std::size_t i = 0; i < call.granted_count; ++i) answer.granted.push_back(*call.granted[i]);
    return answer;
  }
  bool leave(const GateName& gate, const VisitorId& visitor) override {
    const std::lock_guard turn(turn_);
    Call& call = call_of(visitor);
    call.gate.emplace(gate);
    call.visitor = visitor;
    ask(call, [](Call& c, const Store& store) { c.yes = store.leave(*c.gate, c.visitor); });
    return call.yes;
  }
  void renew(std::span<RenewItem> items) override {
    if (items.empty() || items.size() > kMaxItems) return inner().renew(items);
    const std::lock_guard turn(turn_);
    Call& call = call_of(items.front().token.visitor);
    call.count = items.size();
    for (std::size_t i = 0; i < items.size(); ++i) call.items[i].emplace(items[i]);
    ask(call, [](Call& c, const Store& store) {
      std::vector<RenewItem> all;
      for (std::size_t i = 0; i < c.count; ++i) all.push_back(*c.items[i]);
      store.renew(all);
      for (std::size_t i = 0; i < c.count; ++i) c.items[i]->result = all[i].result;
    });
    for (std::size_t i = 0; i < items.size(); ++i) items[i].result = call.items[i]->result;
  }
  bool release(const Token& token) override {
    Call& call = with_token(token);
    ask(call, [](Call& c, const Store& store) { c.yes = store.release(*c.token); });
    return call.yes;
  }
  bool disown(const Token& token) override {
    Call& call = with_token(token);
    ask(call, [](Call& c, const Store& store) { c.yes = store.disown(*c.token); });
    return call.yes;
  }
  std::optional<Granted> adopt(const Token& token) override {
    Call& call = with_token(token);
    ask(call, [](Call& c, const Store& store) { c.granted[0] = store.adopt(*c.token); });
    return call.granted[0];
  }
  bool holds(const Token& token) override {
    Call& call = with_token(token);
    ask(call, [](Call& c, const Store& store) { c.yes = store.holds(*c.token); });
    return call.yes;
  }
  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    std::size_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = watches_.size();
      watches_.push_back({gate, visitor, std::move(changed)});
    }
    const std::lock_guard turn(turn_);
    Call& call = call_of(visitor);
    call.gate.emplace(gate);
    call.visitor = visitor;
    call.watch = number;
    ask(call, [](Call& c, const Store& store) {
      auto* fired = &reinterpret_cast<Arena*>(c.arena)->fired[c.watch];
      c.yes = store.watch(*c.gate, c.visitor, [fired] { *fired = true; });
    });
    return call.yes;
  }
  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    const std::lock_guard turn(turn_);
    Call& call = call_of(visitor);
    call.gate.emplace(gate);
    call.visitor = visitor;
    ask(call, [](Call& c, const Store& store) { store.unwatch(*c.gate, c.visitor); });
    const std::lock_guard lock(mutex_);
    for (Watch& watch : watches_) {
      if (watch.gate == gate && watch.visitor == visitor) watch.changed = nullptr;
    }
  }
  bool await(const GateName& gate, const VisitorId& visitor,
             const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override {
    return Backend::await(gate, visitor, sleeper, deadline);
  }

  // A notice is there until the callback it is for has run.
  void deliver() {
    for (std::uint32_t i = 0; i < segment_->header().processes; ++i) {
      for (auto& notice : segment_->process(i).notices) {
        while (notice != 0) usleep(50);
      }
    }
    call_fired();
  }

 private:
  struct Watch {
    GateName gate;
    VisitorId visitor;
    std::function<void()> changed;
  };

  [[nodiscard]] Call& call_of(const VisitorId& visitor) {
    return arena_.calls[visitor.low % kClients];
  }
  [[nodiscard]] Call& with_token(const Token& token) {
    const std::lock_guard turn(turn_);
    Call& call = call_of(token.visitor);
    call.token.emplace(token);
    return call;
  }

  static void serve(Call& call, const shm::Options& options) {
    Arena& arena = *reinterpret_cast<Arena*>(call.arena);
    Store store = shm::make_store(options, arena.clock);
    while (true) {
      for (std::uint32_t seen = call.state; seen != 1; seen = call.state) {
        base::futex_wait(call.state, seen, Duration(100'000));
      }
      call.failure = Failure::none;
      try {
        call.step(call, store);
      } catch (const StoreError& error) {
        call.failure = Failure::store;
        call.kind = error.kind();
        call.outcome = error.outcome();
        std::strncpy(call.text.data(), error.what(), call.text.size() - 1);
      } catch (const InvalidArgument& error) {
        call.failure = Failure::invalid;
        std::strncpy(call.text.data(), error.what(), call.text.size() - 1);
      }
      call.state = 2;
      base::futex_wake(call.state, 1);
    }
  }

  void ask(Call& call, void (*step)(Call&, const Store&)) {
    call.step = step;
    call.arena = &arena_;
    call.state = 1;
    base::futex_wake(call.state, 1);
    while (call.state != 2) base::futex_wait(call.state, 1, Duration(100'000));
    if (call.failure == Failure::invalid) throw InvalidArgument(call.text.data());
    if (call.failure == Failure::store) throw StoreError(call.kind, call.outcome, call.text.data());
  }

  void call_fired() {
    const std::lock_guard one(calling_);
    for (std::size_t i = 0; i < watches_count(); ++i) {
      if (!arena_.fired[i].exchange(false)) continue;
      std::function<void()> changed;
      {
        const std::lock_guard lock(mutex_);
        std::swap(changed, watches_[i].changed);
      }
      if (changed) changed();
    }
  }
  [[nodiscard]] std::size_t watches_count() {
    const std::lock_guard lock(mutex_);
    return watches_.size();
  }

  Arena& arena_;
  std::vector<Child> clients_;
  std::optional<shm::Segment> segment_;
  std::mutex turn_;  // One call at a time, from its question to its answer.
  std::recursive_mutex calling_;
  std::mutex mutex_;
  std::deque<Watch> watches_;
  std::atomic<bool> stopping_ = false;
  std::thread caller_;
};

class ShmRemoteClients final : public StoreUnderTest {
 public:
  ShmRemoteClients() {
    for (Call& call : arena_->calls) call.arena = &*arena_;
    store_ = std::make_shared<RemoteClientsStore>(*arena_, shm::Options{.dir = dir_.path()});
  }
  Store store() override { return internal::Handle::to(store_); }
  Instant now() override { return arena_->clock.now(); }
  void advance(Duration duration) override { arena_->clock.advance(duration); }
  void deliver_calls() override { store_->deliver(); }
  void jump_wall(Duration by) override { arena_->clock.jump_wall(by); }
  Instant wall() override { return arena_->clock.wall(); }

 private:
  TempDir dir_;
  SharedValue<Arena> arena_;
  std::shared_ptr<RemoteClientsStore> store_;
};

}  // namespace

std::unique_ptr<StoreUnderTest> make_shm_remote_clients() {
  return std::make_unique<ShmRemoteClients>();
}

}  // namespace airlock::contract
