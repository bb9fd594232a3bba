#include "store/memory/memory_store.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "airlock/testing.hpp"
#include "testing/stepped_clock.hpp"

// The memory store where threads meet, and what it allocates. What it answers is tested by the contract suite.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;

// Counts what this binary allocates; operator new comes here too.
namespace {
std::atomic<std::uint64_t> allocations{0};
}

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are glibc's
void* __libc_malloc(std::size_t bytes) noexcept;
void* __libc_calloc(std::size_t count, std::size_t bytes) noexcept;
void* __libc_realloc(void* old, std::size_t bytes) noexcept;
// NOLINTEND(readability-identifier-naming)

void* malloc(std::size_t bytes) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, bytes);
}
}
#endif

namespace airlock {
namespace {

using namespace std::chrono_literals;
using internal::SteppedClock;

Request ask(const GateName& gate, const VisitorId& visitor, std::uint32_t limit) {
  return {.gate = gate,
          .visitor = visitor,
          .label = "test",
          .permits = Permits{.limit = limit, .ttl = 1min}};
}

// A place in the line that is not lost because a machine is slow.
Line patiently() { return {.join = true, .patience = 1min, .claim_window = 1min}; }

void run_in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

// Lets one thread wait until another says so.
class Signal {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// --- threads ---

// Counts who is inside, by the word of those who are.
class Room {
 public:
  explicit Room(int limit) : limit_(limit) {}

  void enter(int weight) {
    if (inside_.fetch_add(weight) + weight > limit_) overfull_ = true;
  }
  void leave(int weight) { inside_.fetch_sub(weight); }
  [[nodiscard]] bool was_overfull() const { return overfull_; }

 private:
  int limit_;
  std::atomic<int> inside_{0};
  std::atomic<bool> overfull_{false};
};

TEST(MemoryStore, NeverAdmitsMoreThanTheLimitWhateverThreadsDo) {
  const Store store = memory::make_store({.shards = 2}, Clock::system());
  constexpr int kLimit = 4;
  constexpr int kGates = 3;
  std::vector<std::unique_ptr<Room>> rooms;
  for (int i = 0; i < kGates; ++i) rooms.push_back(std::make_unique<Room>(kLimit));
  std::atomic<int> entered{0};
  run_in_threads(8, [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    for (int i = 0; i < 5'000; ++i) {
      const auto which = random() % kGates;
      const GateName gate("gate:" + std::to_string(which));
      Request request = ask(gate, VisitorId::random(), kLimit);
      request.permits->weight = 1 + static_cast<std::uint32_t>(random() % 3);
      request.line = patiently();
      request.line.join = random() % 2 == 0;
      Answer answer = store.admit(request);
      for (int turn = 0; std::holds_alternative<Queued>(answer) && turn < 50; ++turn) {
        std::this_thread::yield();
        answer = store.admit(request);
      }
      if (std::holds_alternative<Queued>(answer) && store.leave(gate, request.visitor)) continue;
      const auto* granted = std::get_if<Granted>(&answer);
      if (granted == nullptr) continue;
      const auto weight = static_cast<int>(request.permits->weight);
      ++entered;
      rooms[which]->enter(weight);
      if (random() % 4 == 0) (void)store.look(gate);
      if (random() % 4 == 0) (void)store.renew(granted->token, 1min);
      rooms[which]->leave(weight);
      EXPECT_TRUE(store.release(granted->token));
    }
  });
  for (const auto& room : rooms) EXPECT_FALSE(room->was_overfull());
  EXPECT_GT(entered, 1'000);
  for (int i = 0; i < kGates; ++i) {
    const auto view = store.look("gate:" + std::to_string(i));
    ASSERT_TRUE(view);
    EXPECT_EQ(view->counts.in_use, 0U);
    EXPECT_EQ(view->counts.waiting, 0U);
  }
}

TEST(MemoryStore, TakesEveryStepFromEveryThread) {
  const Store store = memory::make_store({.shards = 2}, Clock::system());
  run_in_threads(8, [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    const std::vector<Rate> rates = {{.count = 1'000, .period = 1s}};
    for (int i = 0; i < 3'000; ++i) {
      const GateName gate("g/" + std::to_string(random() % 4));
      const VisitorId visitor{1, random() % 10};
      Request request = ask(gate, visitor, 3);
      request.rates = rates;
      request.line.join = true;
      const Answer answer = store.admit(request);
      switch (random() % 10) {
        case 0:
          store.set_limit(gate, 1 + random() % 5);
          break;
        case 1:
          store.pause(gate, Duration(random() % 100 + 1), "test");
          break;
        case 2:
          (void)store.resume(gate, "test");
          break;
        case 3:
          (void)store.revoke(gate, visitor, Revoke::now);
          break;
        case 4:
          (void)store.purge(gate);
          break;
        case 5:
          store.collect();
          break;
        case 6:
          (void)store.list();
          break;
        case 7:
          store.refund(request);
          break;
        case 8:
          (void)store.leave(gate, visitor);
          break;
        default:
          (void)store.look(gate);
          break;
      }
      if (const auto* granted = std::get_if<Granted>(&answer)) {
        (void)store.disown(granted->token);
        (void)store.adopt(granted->token);
        (void)store.release(granted->token);
      }
    }
  });
}

// Three throw a ball: who has it waits until another waits for it, so that every throw is a hand-over.
TEST(MemoryStore, LosesNoWakeUp) {
  const Store store = memory::make_store({}, Clock::system());
  const std::vector<GateName> gates = {"ball"};
  std::atomic<int> playing{3};
  std::atomic<int> lost{0};
  std::atomic<int> calls{0};
  run_in_threads(3, [&](int number) {
    Request request = ask("ball", VisitorId{2, static_cast<std::uint64_t>(number)}, 1);
    request.line = patiently();
    for (int caught = 0; caught < 500 && lost == 0;) {
      const Answer answer = store.admit(request);
      if (const auto* granted = std::get_if<Granted>(&answer)) {
        ++caught;
        while (playing > 1 && store.counts(gates)[0].waiting == 0) std::this_thread::yield();
        EXPECT_TRUE(store.release(granted->token));
        continue;
      }
      const auto called = std::make_shared<Signal>();
      if (!store.watch(request.gate, request.visitor, [called] { called->set(); })) continue;
      if (!called->wait()) ++lost;
      ++calls;
      store.unwatch(request.gate, request.visitor);
    }
    --playing;
  });
  EXPECT_EQ(lost, 0);
  EXPECT_GT(calls, 100);
}

// --- watch ---

// One waiter behind one holder, again and again.
class WatchedLine : public ::testing::Test {
 protected:
  Token holder_enters() { return std::get<Granted>(store_.admit(ask(kGate, kHolder, 1))).token; }
  void waiter_joins() {
    Request request = ask(kGate, kWaiter, 1);
    request.line = patiently();
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(request)));
  }

  static inline const GateName kGate{"gate"};
  static constexpr VisitorId kHolder{3, 1};
  static constexpr VisitorId kWaiter{3, 2};
  Store store_ = memory::make_store({}, Clock::system());
};

TEST_F(WatchedLine, IsNotCalledAfterUnwatchReturned) {
  int called = 0;
  for (int round = 0; round < 2'000; ++round) {
    const Token token = holder_enters();
    waiter_joins();
    std::atomic<bool> watching{true};
    std::atomic<bool> late{false};
    std::atomic<int> calls{0};
    ASSERT_TRUE(store_.watch(kGate, kWaiter, [&] {
      ++calls;
      std::this_thread::yield();
      if (!watching) late = true;
    }));
    std::thread releaser([&] { EXPECT_TRUE(store_.release(token)); });
    if (round % 3 == 0) std::this_thread::yield();
    store_.unwatch(kGate, kWaiter);
    watching = false;
    releaser.join();
    ASSERT_FALSE(late);
    ASSERT_LE(calls, 1);
    called += calls;
    ASSERT_TRUE(store_.leave(kGate, kWaiter));
  }
  RecordProperty("called", called);
}

TEST_F(WatchedLine, OfManyIsNotCalledAfterUnwatchReturnedEither) {
  constexpr int kWaiters = 8;
  for (int round = 0; round < 200; ++round) {
    Request everything = ask(kGate, kHolder, kWaiters);
    everything.permits->weight = kWaiters;
    const Token token = std::get<Granted>(store_.admit(everything)).token;
    std::vector<std::atomic<bool>> watching(kWaiters);
    std::atomic<bool> late{false};
    for (std::size_t i = 0; i < kWaiters; ++i) {
      Request request = ask(kGate, VisitorId{4, i}, kWaiters);
      request.line = patiently();
      ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(request)));
      watching[i] = true;
      ASSERT_TRUE(store_.watch(kGate, request.visitor, [&, i] {
        std::this_thread::yield();
        if (!watching[i]) late = true;
      }));
    }
    run_in_threads(3, [&](int number) {
      if (number == 0) {
        EXPECT_TRUE(store_.release(token));  // Hands over to all in one step.
        return;
      }
      for (std::size_t i = static_cast<std::size_t>(number) - 1; i < kWaiters; i += 2) {
        store_.unwatch(kGate, VisitorId{4, i});
        watching[i] = false;
      }
    });
    ASSERT_FALSE(late);
    for (std::size_t i = 0; i < kWaiters; ++i) ASSERT_TRUE(store_.leave(kGate, VisitorId{4, i}));
  }
}

// Two are due in one step, and the first takes back the second before it is called.
TEST_F(WatchedLine, IsNotCalledWhenTakenBackWhileOthersAreCalled) {
  Request everything = ask(kGate, kHolder, 2);
  everything.permits->weight = 2;
  const Token token = std::get<Granted>(store_.admit(everything)).token;
  const std::array<VisitorId, 2> waiters = {VisitorId{4, 0}, VisitorId{4, 1}};
  for (const VisitorId& waiter : waiters) {
    Request request = ask(kGate, waiter, 2);
    request.line = patiently();
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(request)));
  }
  bool called = false;
  ASSERT_TRUE(store_.watch(kGate, waiters[0], [&] { store_.unwatch(kGate, waiters[1]); }));
  ASSERT_TRUE(store_.watch(kGate, waiters[1], [&] { called = true; }));
  EXPECT_TRUE(store_.release(token));
  EXPECT_FALSE(called);
}

// The same where the visits are gone when the second is taken back.
TEST_F(WatchedLine, OfAPurgedGateIsNotCalledWhenTakenBack) {
  (void)holder_enters();
  const std::array<VisitorId, 2> waiters = {VisitorId{4, 0}, VisitorId{4, 1}};
  int calls = 0;
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    Request request = ask(kGate, waiters[i], 1);
    request.line = patiently();
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(request)));
    ASSERT_TRUE(store_.watch(kGate, waiters[i], [&, other = waiters[1 - i]] {
      ++calls;
      store_.unwatch(kGate, other);
    }));
  }
  EXPECT_TRUE(store_.purge(kGate));
  EXPECT_EQ(calls, 1);
}

TEST_F(WatchedLine, MayBeUnwatchedFromInsideTheCall) {
  const Token token = holder_enters();
  waiter_joins();
  bool called = false;
  ASSERT_TRUE(store_.watch(kGate, kWaiter, [&] {
    store_.unwatch(kGate, kWaiter);
    called = true;
  }));
  EXPECT_TRUE(store_.release(token));
  EXPECT_TRUE(called);
}

TEST_F(WatchedLine, WaitsForACallThatRuns) {
  const Token token = holder_enters();
  waiter_joins();
  Signal running;
  Signal go_on;
  std::atomic<bool> done{false};
  ASSERT_TRUE(store_.watch(kGate, kWaiter, [&] {
    running.set();
    EXPECT_TRUE(go_on.wait());
    done = true;
  }));
  std::thread releaser([&] { EXPECT_TRUE(store_.release(token)); });
  ASSERT_TRUE(running.wait());
  std::thread helper([&] {
    (void)store_.look(kGate);  // The store is not locked meanwhile.
    go_on.set();
  });
  store_.unwatch(kGate, kWaiter);
  EXPECT_TRUE(done);
  releaser.join();
  helper.join();
}

TEST_F(WatchedLine, DoesNotMindAThrow) {
  const Token token = holder_enters();
  waiter_joins();
  ASSERT_TRUE(store_.watch(kGate, kWaiter, [] { throw std::runtime_error("not my day"); }));
  EXPECT_NO_THROW(EXPECT_TRUE(store_.release(token)));
  EXPECT_TRUE(store_.leave(kGate, kWaiter));
}

TEST_F(WatchedLine, MayAskAndWatchAgainFromInsideTheCall) {
  const Token token = holder_enters();
  waiter_joins();
  int entered = 0;
  ASSERT_TRUE(store_.watch(kGate, kWaiter, [&] {
    const Answer answer = store_.admit(ask(kGate, kWaiter, 1));
    entered += std::holds_alternative<Granted>(answer) ? 1 : 0;
    EXPECT_TRUE(store_.watch(kGate, kWaiter, [&] { ++entered; }));
  }));
  EXPECT_TRUE(store_.release(token));
  EXPECT_EQ(entered, 1);
  EXPECT_EQ(store_.revoke(kGate, kWaiter, Revoke::now), 1U);
  EXPECT_EQ(entered, 2);
}

// --- memory ---

std::size_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Large extents are mapped, and malloc knows nothing of them.
std::size_t mapped_bytes() {
  std::ifstream maps("/proc/self/maps");
  std::size_t total = 0;
  for (std::string line; std::getline(maps, line);) {
    std::size_t begin = 0;
    std::size_t end = 0;
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    if (std::sscanf(line.c_str(), "%zx-%zx rw-p 00000000 00:00 0", &begin, &end) != 2) continue;
    if (line.find('[') == std::string::npos && begin % kHugePage == 0) total += end - begin;
  }
  return total;
}

void use_once(const Store& store, std::size_t number) {
  static const std::vector<Rate> kRates = {{.count = 10, .period = 1min}};
  Request request = ask("key:" + std::to_string(number), VisitorId{5, number}, 1);
  if (number % 3 == 1) request.rates = kRates;
  if (number % 3 == 2) {
    request.rates = kRates;
    request.permits.reset();
    if (number % 2 == 0) request.dedupe = 1s;
  }
  const Answer answer = store.admit(request);
  ASSERT_TRUE(std::holds_alternative<Granted>(answer));
  if (request.permits) {
    ASSERT_TRUE(store.release(std::get<Granted>(answer).token));
  }
}

TEST(MemoryOfTheMemoryStore, IsFlatWhenKeysAreUsedOnce) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer allocates by itself";
  constexpr std::size_t kGates = 1'000'000;
  SteppedClock clock;
  const Store store = testing::memory_store(clock);
  for (std::size_t i = 0; i < 1'000; ++i)
    use_once(store, kGates + i);  // Every shard has been used.
  clock.advance(11min);
  store.collect();
  const std::size_t before = allocated_bytes();
  const std::size_t mapped_before = mapped_bytes();
  for (std::size_t i = 0; i < kGates; ++i) use_once(store, i);
  const std::size_t most = allocated_bytes() + mapped_bytes();
  clock.advance(11min);
  store.collect();
  EXPECT_TRUE(store.list().empty());
  malloc_trim(0);
  const std::size_t after = allocated_bytes();
  EXPECT_LE(after, before + before / 10) << "at most " << most;
  EXPECT_LE(mapped_bytes(), mapped_before);
  EXPECT_GT(most, 100 * before);
}

TEST(MemoryOfTheMemoryStore, IsFlatWhenNobodyCollects) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer allocates by itself";
  SteppedClock clock;
  const Store store = testing::memory_store(clock);
  std::size_t settled = 0;
  for (std::size_t i = 0; i < 200'000; ++i) {
    use_once(store, i);
    clock.advance(50ms);  // Idle gates are 12 000 at any time.
    if (i == 40'000) settled = allocated_bytes();
  }
  EXPECT_LE(allocated_bytes(), 2 * settled);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(MemoryOfTheMemoryStore, IsNotAllocatedWithoutContention) {
  const Store store = memory::make_store({}, Clock::system());
  const std::vector<Rate> rates = {{.count = 1'000'000, .period = 1s}};
  const Request permits = ask("gate", VisitorId{6, 1}, 10);
  Request labelled = permits;
  labelled.label = {};
  Request rate = ask("rate", VisitorId{6, 2}, 10);
  rate.permits.reset();
  rate.rates = rates;
  std::uint64_t before = 0;
  for (int i = 0; i < 2'000; ++i) {
    if (i == 1'000) before = allocations.load();  // What is made on first use is there by now.
    const Answer answer = store.admit(i % 2 == 0 ? permits : labelled);
    ASSERT_TRUE(store.release(std::get<Granted>(answer).token));
    ASSERT_TRUE(std::holds_alternative<Granted>(store.admit(rate)));
  }
  EXPECT_EQ(allocations.load() - before, 0U);
}

TEST(MemoryOfTheMemoryStore, IsNotAllocatedForFreshVisitorsEither) {
  const Store store = memory::make_store({}, Clock::system());
  std::uint64_t before = 0;
  for (int i = 0; i < 2'000; ++i) {
    if (i == 1'000) before = allocations.load();
    const Answer answer = store.admit(ask("gate", VisitorId::random(), 10));
    ASSERT_TRUE(store.release(std::get<Granted>(answer).token));
  }
  EXPECT_EQ(allocations.load() - before, 0U);
}

TEST(MemoryOfTheMemoryStore, IsCountedHere) {
  const std::uint64_t before = allocations.load();
  std::make_unique<std::string>(100, 'x');
  EXPECT_GT(allocations.load(), before);
}
#endif

}  // namespace
}  // namespace airlock
