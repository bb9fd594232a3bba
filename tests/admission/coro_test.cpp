#include "airlock/coro.hpp"

#include <poll.h>

#include <atomic>
#include <coroutine>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "admission/support/log.hpp"
#include "admission/support/real_store_test.hpp"

// Coroutines that wait at a gate: where they continue, what they leave behind when they are destroyed, and what it
// costs them not to wait.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;

// Counts what this thread allocates; operator new comes here too.
namespace {
thread_local std::uint64_t allocations = 0;
}

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming): the name is glibc's
void* __libc_malloc(std::size_t bytes) noexcept;

void* malloc(std::size_t bytes) noexcept {
  ++allocations;
  return __libc_malloc(bytes);
}
}
#endif

namespace airlock {
namespace {

using namespace std::chrono_literals;

// Begins at once and is destroyed with this object, suspended or done.
class Task {
 public:
  struct promise_type {  // NOLINT(readability-identifier-naming): the language's name
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() noexcept { std::terminate(); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { destroy(); }

  void destroy() {
    if (auto handle = std::exchange(handle_, nullptr)) handle.destroy();
  }
  [[nodiscard]] bool done() const { return handle_.done(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// Begins at once and ends by itself, on whatever thread.
struct Detached {
  struct promise_type {  // NOLINT(readability-identifier-naming): the language's name
    static Detached get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() noexcept { std::terminate(); }
  };
};

// What a coroutine came to, and where.
struct Seen {
  std::optional<Outcome<Lease>> lease;
  std::exception_ptr failure;
  std::thread::id thread;

  [[nodiscard]] bool is_over() const { return lease || failure; }
  [[nodiscard]] bool is_in() const { return lease && lease->has_value(); }
  [[nodiscard]] bool is_late() const {
    return lease && !lease->has_value() && lease->error().reason == Reason::late;
  }
};

template <typename Resume>
Task enter(const Airlock gate, Seen& seen, Resume& resume, std::stop_token stop = {}) {
  try {
    const Ask ask{.stop = stop};
    seen.lease = co_await async_enter(gate, ask, resume);
  } catch (...) {
    seen.failure = std::current_exception();
  }
  seen.thread = std::this_thread::get_id();
}

// What g++ 12 would destroy twice is not accepted.
template <typename... Arguments>
concept Awaitable = requires(const Airlock& gate, Arguments&&... arguments) {
  async_enter(gate, std::forward<Arguments>(arguments)...);
};
using Function = std::function<void(Resumption)>;
static_assert(Awaitable<Ask&, Mailbox&> && Awaitable<const Ask&, Function&>);
static_assert(!Awaitable<Ask, Mailbox&> && !Awaitable<Ask&, Mailbox> && !Awaitable<Function>);

class Coroutines : public RealStoreTest {
 protected:
  // Returns when it stands in the line.
  template <typename Resume>
  [[nodiscard]] Task wait(const Airlock& gate, Seen& seen, Resume& resume,
                          std::stop_token stop = {}) {
    const std::uint32_t before = waiting();
    Task task = enter(gate, seen, resume, std::move(stop));
    EXPECT_TRUE(eventually([&] { return waiting() == before + 1; }));
    return task;
  }
  template <typename Condition>
  [[nodiscard]] static bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 5min;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(200us);
    }
    return true;
  }

  Loop loop_;
  std::function<void(Resumption)> on_loop_ = [this](Resumption resume) {
    loop_.post(std::move(resume));
  };
  Airlock gate_ = gate(1);
};

TEST_P(Coroutines, AreLetInAndContinueInTheLoop) {
  Seen seen;
  const Task task = enter(gate_, seen, on_loop_);
  ASSERT_TRUE(loop_.run_until([&] { return seen.is_over(); }));
  EXPECT_TRUE(seen.is_in());
  EXPECT_EQ(seen.thread, std::this_thread::get_id());
  EXPECT_EQ(loop_.size(), 0U);
}

TEST_P(Coroutines, WaitForTheirTurnAndContinueInTheLoop) {
  Outcome<Lease> first = gate_.enter();
  Seen seen;
  const Task task = wait(gate_, seen, on_loop_);
  EXPECT_FALSE(seen.is_over());
  first->release();
  ASSERT_TRUE(loop_.wait_for(1));
  EXPECT_FALSE(seen.is_over()) << "nobody continues it but the loop";
  loop_.run_one();
  EXPECT_TRUE(seen.is_in());
  EXPECT_EQ(seen.thread, std::this_thread::get_id());
}

TEST_P(Coroutines, ContinueWhereTheMailboxIsRun) {
  Outcome<Lease> first = gate_.enter();
  const Mailbox mailbox;
  Seen seen;
  const Task task = wait(gate_, seen, mailbox);
  first->release();
  pollfd event{.fd = mailbox.fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&event, 1, 300'000), 1);
  EXPECT_FALSE(seen.is_over());
  EXPECT_EQ(const_cast<Mailbox&>(mailbox).run(), 1U);
  EXPECT_TRUE(seen.is_in());
  EXPECT_EQ(seen.thread, std::this_thread::get_id());
}

TEST_P(Coroutines, OutliveTheirMailboxSuspendedAndHoldNothing) {
  Outcome<Lease> first = gate_.enter();
  auto mailbox = std::make_unique<Mailbox>();
  Seen seen;
  const Task task = wait(gate_, seen, *mailbox);
  mailbox.reset();
  first->release();
  EXPECT_TRUE(eventually([&] { return gate_.try_enter().has_value(); }));
  EXPECT_FALSE(seen.is_over());
}

TEST_P(Coroutines, MayContinueOnTheThreadThatDecides) {
  Outcome<Lease> first = gate_.enter();
  std::atomic<bool> is_over = false;
  std::thread::id thread;
  const auto twice = [](const Airlock gate, std::thread::id& where,
                        std::atomic<bool>& over) -> Detached {
    const auto here = [](Resumption resume) { resume(); };
    for (int i = 0; i < 2; ++i) (void)co_await async_enter(gate, here);
    where = std::this_thread::get_id();
    over = true;
  };
  twice(gate_, thread, is_over);
  EXPECT_TRUE(eventually([&] { return waiting() == 1; }));
  first->release();
  EXPECT_TRUE(eventually([&] { return is_over.load(); }));
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST_P(Coroutines, ComeInInOrder) {
  std::optional<Outcome<Lease>> first = gate_.enter();
  std::vector<int> order;
  const auto pass = [](const Airlock gate, std::function<void(Resumption)>& resume,
                       std::vector<int>& passed, int number) -> Task {
    const Outcome<Lease> lease = co_await async_enter(gate, resume);
    if (lease) passed.push_back(number);
  };
  std::vector<Task> tasks;
  std::vector<int> expected;
  for (int i = 0; i < 20; ++i) {
    tasks.push_back(pass(gate_, on_loop_, order, i));
    expected.push_back(i);
    ASSERT_TRUE(eventually([&] { return waiting() == tasks.size(); }));
  }
  first.reset();
  ASSERT_TRUE(loop_.run_until([&] { return order.size() == tasks.size(); }));
  EXPECT_EQ(order, expected);
  tasks.clear();
  expect_nobody();
}

TEST_P(Coroutines, LeaveWhenTheyAreStopped) {
  const Outcome<Lease> first = gate_.enter();
  std::stop_source stop;
  Seen seen;
  const Task task = wait(gate_, seen, on_loop_, stop.get_token());
  stop.request_stop();
  ASSERT_TRUE(loop_.run_until([&] { return seen.is_over(); }));
  EXPECT_TRUE(seen.is_late());
  EXPECT_TRUE(eventually([&] { return waiting() == 0; }));
}

TEST_P(Coroutines, WaitNoLongerThanTheyAreGiven) {
  const Outcome<Lease> first = gate_.enter();
  Seen seen;
  const auto briefly = [](const Airlock gate, Seen& came_to,
                          std::function<void(Resumption)>& resume) -> Task {
    came_to.lease = co_await async_enter_for(gate, 10ms, resume);
  };
  const Task task = briefly(gate_, seen, on_loop_);
  ASSERT_TRUE(loop_.run_until([&] { return seen.is_over(); }));
  EXPECT_TRUE(seen.is_late());
}

TEST_P(Coroutines, ThrowWhatTheStoreSays) {
  const Outcome<Lease> first = gate_.enter();
  Seen suspended;
  Seen begun_later;
  const Task task = wait(gate_, suspended, on_loop_);
  store_.close();
  ASSERT_TRUE(loop_.run_until([&] { return suspended.is_over(); }));
  const Task later = enter(gate_, begun_later, on_loop_);
  ASSERT_TRUE(loop_.run_until([&] { return begun_later.is_over(); }));
  for (const Seen* seen : {&suspended, &begun_later}) {
    ASSERT_TRUE(seen->failure);
    EXPECT_THROW(std::rethrow_exception(seen->failure), StoreError);
  }
}

TEST_P(Coroutines, ThatAreDestroyedLeaveTheLineToTheNext) {
  Outcome<Lease> first = gate_.enter();
  Seen second;
  Seen third;
  Task gone = wait(gate_, second, on_loop_);
  const Task task = wait(gate_, third, on_loop_);
  gone.destroy();
  EXPECT_TRUE(store_.flush(kLong)) << "what left is on its way out";
  EXPECT_EQ(waiting(), 1U);
  first->release();
  ASSERT_TRUE(loop_.run_until([&] { return third.is_over(); }));
  EXPECT_TRUE(third.is_in());
  EXPECT_EQ(loop_.size(), 0U) << "nobody asked the loop to continue the other";
}

TEST_P(Coroutines, ThatAreDestroyedWhenTheGrantWaitsInTheLoopGiveItBack) {
  Outcome<Lease> first = gate_.enter();
  Seen seen;
  Task gone = wait(gate_, seen, on_loop_);
  first->release();
  ASSERT_TRUE(loop_.wait_for(1));
  gone.destroy();
  EXPECT_TRUE(gate_.enter()) << "before the loop runs again, and if it never does";
  loop_.run_one();
  EXPECT_FALSE(seen.is_over()) << "and then it does nothing";
}

TEST_P(Coroutines, ThatNobodyContinuesHoldNothing) {
  Outcome<Lease> first = gate_.enter();
  std::atomic<int> called = 0;
  auto drop = [&](const Resumption& /*resume*/) { ++called; };
  Seen seen;
  const Task task = wait(gate_, seen, drop);
  first->release();
  EXPECT_TRUE(gate_.enter());
  EXPECT_EQ(called, 1);
  EXPECT_FALSE(seen.is_over());
}

TEST_P(Coroutines, ThatAreInTheQueueOfALoopThatEndsHoldNothing) {
  Outcome<Lease> first = gate_.enter();
  Seen seen;
  const Task task = wait(gate_, seen, on_loop_);
  first->release();
  ASSERT_TRUE(loop_.wait_for(1));
  loop_.clear();
  EXPECT_TRUE(gate_.enter());
}

TEST_P(Coroutines, ThatCannotBeContinuedHoldNothing) {
  const std::uint64_t failures = observer_failures();
  Outcome<Lease> first = gate_.enter();
  auto refuse = [](const Resumption& /*resume*/) {
    throw std::runtime_error("the pool is closed");
  };
  Seen seen;
  const Task task = wait(gate_, seen, refuse);
  first->release();
  EXPECT_TRUE(gate_.enter());
  EXPECT_TRUE(eventually([&] { return observer_failures() == failures + 1; }));
}

TEST_P(Coroutines, ContinueOnce) {
  Outcome<Lease> first = gate_.enter();
  std::vector<Resumption> copies;
  std::atomic<bool> posted = false;
  auto keep = [&](const Resumption& resume) {
    copies.assign(3, resume);
    posted = true;
  };
  Seen seen;
  Task task = wait(gate_, seen, keep);
  first->release();
  EXPECT_TRUE(eventually([&] { return posted.load(); }));
  copies[0]();
  EXPECT_TRUE(seen.is_in());
  copies[1]();
  task.destroy();
  copies[2]();
}

TEST_P(Coroutines, MayBeDestroyedByWhatShouldContinueThem) {
  Outcome<Lease> first = gate_.enter();
  Seen seen;
  std::optional<Task> task;
  std::atomic<bool> destroyed = false;
  auto destroy = [&](const Resumption& /*resume*/) {
    task.reset();
    destroyed = true;
  };
  task.emplace(wait(gate_, seen, destroy));
  first->release();
  EXPECT_TRUE(eventually([&] { return destroyed.load(); }));
  EXPECT_TRUE(gate_.enter());
}

TEST_P(Coroutines, KeepNothingOfTheFunction) {
  Outcome<Lease> first = gate_.enter();
  const auto held = std::make_shared<int>();
  Seen seen;
  {
    auto resume = [this, held](Resumption resumption) { loop_.post(std::move(resumption)); };
    const Task task = wait(gate_, seen, resume);
    first->release();
    ASSERT_TRUE(loop_.run_until([&] { return seen.is_over(); }));
  }
  EXPECT_TRUE(eventually([&] { return held.use_count() == 1; }));
}

// One question: it is in the line or in, never refused first.
TEST_P(Coroutines, ThatWaitAreNotCountedAsRefused) {
  const auto log = std::make_shared<Log>();
  const Airlock gate(store_, "erp",
                     {.limit = 1, .max_wait = kLong, .claim_window = kLong, .observer = log});
  Outcome<Lease> first = gate_.enter();
  Seen seen;
  const Task task = wait(gate, seen, on_loop_);
  first->release();
  ASSERT_TRUE(loop_.run_until([&] { return seen.is_over(); }));
  const auto view = store_.look("erp");
  EXPECT_EQ(view->counters.granted, 2U);
  EXPECT_EQ(view->counters.abandoned, 0U) << "and never out of the line again";
  for (const std::uint64_t refused : view->counters.refused) EXPECT_EQ(refused, 0U);
  EXPECT_EQ(log->kinds(), (std::vector{Event::Kind::queued, Event::Kind::granted}));
}

AIRLOCK_REAL_STORE_SUITE(Coroutines);

// --- what it costs not to wait ---

class ReadyCoroutines : public RealStoreTest {};

TEST_P(ReadyCoroutines, AllocateNothing) {
  if constexpr (kSanitized) GTEST_SKIP() << "sanitizers have allocators of their own";
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const Airlock gate = this->gate(1);
  const Mailbox mailbox;
  std::uint64_t counted = 0;
  int in = 0;
  const auto enter = [](const Airlock& at, const Mailbox& box, std::uint64_t& count,
                        int& entered) -> Task {
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t before = allocations;
      {
        const Outcome<Lease> lease = co_await async_enter(at, box);
        entered += lease ? 1 : 0;
      }
      {
        const Outcome<Lease> lease =
            co_await async_enter(at, [&](Resumption resume) { box.executor()(std::move(resume)); });
        entered += lease ? 1 : 0;
      }
      if (i > 0) count += allocations - before;  // The first lease of a store is made.
    }
  };
  const Task task = enter(gate, mailbox, counted, in);
  EXPECT_EQ(in, 200);
  EXPECT_EQ(counted, 0U);
#endif
}

INSTANTIATE_TEST_SUITE_P(Stores, ReadyCoroutines, ::testing::Values("memory", "shm"), kind_of);

// --- everything at once ---

class CoroutineRaces : public Coroutines {
 protected:
  struct Visit {
    Visit(const Airlock& gate, std::function<void(Resumption)>& resume, std::atomic<int>& inside,
          int& entered)
        : task(run(gate, resume, stop.get_token(), inside, entered)) {}

    static Task run(const Airlock gate, std::function<void(Resumption)>& resume,
                    std::stop_token stop, std::atomic<int>& inside, int& entered) {
      const Ask ask{.stop = stop};
      const Outcome<Lease> lease = co_await async_enter(gate, ask, resume);
      if (!lease) co_return;
      EXPECT_EQ(++inside, 1);
      ++entered;
      --inside;
    }

    std::stop_source stop;
    Task task;
  };

  // A thread that stops waits, and another that takes turns at the gate itself.
  void disturb(const std::stop_token& end) {
    std::mt19937 random(1);
    while (!end.stop_requested()) {
      if (random() % 2 == 0) {
        const std::lock_guard lock(mutex_);
        if (!stops_.empty()) stops_[random() % stops_.size()].request_stop();
      } else {
        const Outcome<Lease> lease = gate_.try_enter_for(1ms);
        if (lease) inside_ += 1;
        if (lease) inside_ -= 1;
      }
    }
  }

  std::mutex mutex_;
  std::vector<std::stop_source> stops_;
  std::atomic<int> inside_ = 0;
};

TEST_P(CoroutineRaces, OfGrantsStopsAndDestructionLeaveNothingBehind) {
  const int rounds = kSanitized || GetParam() == std::string("redis") ? 300 : 3'000;
  std::mt19937 random(2);
  int entered = 0;
  {
    std::jthread disturber([this](const std::stop_token& end) { disturb(end); });
    std::vector<std::unique_ptr<Visit>> visits;
    for (int i = 0; i < rounds; ++i) {
      visits.push_back(std::make_unique<Visit>(gate_, on_loop_, inside_, entered));
      {
        const std::lock_guard lock(mutex_);
        stops_.push_back(visits.back()->stop);
        if (stops_.size() > 16) stops_.erase(stops_.begin());
      }
      loop_.run_one();
      while (visits.size() > 8) visits.erase(visits.begin() + static_cast<long>(random() % 8));
    }
    // Those that were not destroyed are all decided.
    const std::size_t left = visits.size();
    ASSERT_TRUE(loop_.run_until([&] {
      std::erase_if(visits, [](const auto& visit) { return visit->task.done(); });
      return visits.empty();
    })) << visits.size()
        << " of " << left;
  }
  entered = 0;
  const Visit last(gate_, on_loop_, inside_, entered);
  ASSERT_TRUE(loop_.run_until([&] { return last.task.done(); }));
  EXPECT_EQ(entered, 1) << "nobody who is gone is in its way";
  expect_nobody();
  EXPECT_TRUE(gate_.try_enter());
}

// The function is not called once the destructor is over: here it would touch what is gone.
TEST_P(CoroutineRaces, OfAGrantAndDestructionNeverCallTheFunctionTooLate) {
  const int rounds = kSanitized || GetParam() == std::string("redis") ? 100 : 500;
  for (int i = 0; i < rounds; ++i) {
    std::optional<Outcome<Lease>> first = gate_.enter();
    auto posted = std::make_unique<std::vector<Resumption>>();
    auto resume = [to = posted.get()](Resumption resumption) {
      to->push_back(std::move(resumption));
    };
    Seen seen;
    Task task = enter(gate_, seen, resume);
    std::jthread release([&] { first.reset(); });
    for (int spin = 0; spin < i % 50; ++spin) std::this_thread::yield();
    task.destroy();
    posted.reset();
  }
  expect_nobody();
}

AIRLOCK_REAL_STORE_SUITE(CoroutineRaces);

}  // namespace
}  // namespace airlock
