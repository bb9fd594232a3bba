#include "airlock/asio.hpp"

#ifdef AIRLOCK_STANDALONE_ASIO
#include <asio.hpp>
#define AIRLOCK_TEST_CANCELLATION (ASIO_VERSION >= 101900)
#else
#include <boost/asio.hpp>
#define AIRLOCK_TEST_CANCELLATION (BOOST_ASIO_VERSION >= 101900)
#endif

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "admission/support/real_store_test.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;
namespace net = internal::net;

class AsioOperations : public RealStoreTest {
 protected:
  struct Seen {
    std::optional<Outcome<Lease>> lease;
    std::exception_ptr failure;
    std::thread::id thread;
  };

  // A handler that notes what it is told, on the io_context.
  [[nodiscard]] auto note(Seen& seen) {
    return net::bind_executor(io_->get_executor(),
                              [&seen](std::exception_ptr failure, Outcome<Lease> lease) {
                                seen.failure = std::move(failure);
                                seen.lease.emplace(std::move(lease));
                                seen.thread = std::this_thread::get_id();
                              });
  }
  [[nodiscard]] bool is_in_line(std::uint32_t count) const {
    const auto end = std::chrono::steady_clock::now() + 5min;
    while (waiting() != count) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(200us);
    }
    return true;
  }
  static void expect_late(const Seen& seen) {
    ASSERT_TRUE(seen.lease);
    ASSERT_FALSE(*seen.lease);
    EXPECT_EQ(seen.lease->error().reason, Reason::late);
    EXPECT_FALSE(seen.failure);
  }

  std::unique_ptr<net::io_context> io_ = std::make_unique<net::io_context>();
  Airlock gate_ = gate(1);
};

TEST_P(AsioOperations, CallBackOnTheAssociatedExecutorAndNeverAtOnce) {
  Seen seen;
  net::post(*io_, [&] {
    async_enter(gate_, note(seen));
    EXPECT_FALSE(seen.lease);
  });
  io_->run();
  ASSERT_TRUE(seen.lease);
  EXPECT_TRUE(*seen.lease);
  EXPECT_EQ(seen.thread, std::this_thread::get_id());
}

TEST_P(AsioOperations, KeepTheContextAtWorkWhileTheyWait) {
  Outcome<Lease> first = gate_.enter();
  Seen seen;
  async_enter(gate_, note(seen));
  const std::jthread release([&] {
    EXPECT_TRUE(is_in_line(1));
    first->release();
  });
  io_->run();
  ASSERT_TRUE(seen.lease);
  EXPECT_TRUE(*seen.lease);
  EXPECT_EQ(seen.thread, std::this_thread::get_id());
}

TEST_P(AsioOperations, AreFutures) {
  Outcome<Lease> first = gate_.enter();
  std::future<Outcome<Lease>> second = async_enter(gate_, net::use_future);
  EXPECT_TRUE(is_in_line(1));
  first->release();
  EXPECT_TRUE(second.get());
}

TEST_P(AsioOperations, SayWhyTheStoreFailed) {
  const Outcome<Lease> first = gate_.enter();
  Seen waits;
  async_enter(gate_, note(waits));
  EXPECT_TRUE(is_in_line(1));
  store_.close();
  Seen comes_later;
  async_enter(gate_, note(comes_later));
  std::future<Outcome<Lease>> future = async_enter(gate_, net::use_future);
  io_->run();
  for (const Seen* seen : {&waits, &comes_later}) {
    ASSERT_TRUE(seen->failure);
    EXPECT_THROW(std::rethrow_exception(seen->failure), StoreError);
  }
  EXPECT_THROW((void)future.get(), StoreError);
}

TEST_P(AsioOperations, WaitNoLongerThanTheyAreGiven) {
  const Outcome<Lease> first = gate_.enter();
  Seen seen;
  async_enter_for(gate_, 10ms, note(seen));
  io_->run();
  expect_late(seen);
}

TEST_P(AsioOperations, LeaveWhenTheyAreStopped) {
  const Outcome<Lease> first = gate_.enter();
  std::stop_source stop;
  const Ask ask{.stop = stop.get_token()};
  Seen seen;
  async_enter(gate_, ask, note(seen));
  EXPECT_TRUE(is_in_line(1));
  stop.request_stop();
  io_->run();
  expect_late(seen);
  EXPECT_TRUE(is_in_line(0));
}

#if AIRLOCK_TEST_CANCELLATION
TEST_P(AsioOperations, LeaveWhenTheirSlotIsSignalled) {
  const Outcome<Lease> first = gate_.enter();
  net::cancellation_signal signal;
  Seen seen;
  async_enter(gate_, net::bind_cancellation_slot(signal.slot(), note(seen)));
  EXPECT_TRUE(is_in_line(1));
  signal.emit(net::cancellation_type::total);
  io_->run();
  expect_late(seen);
  EXPECT_TRUE(is_in_line(0));
  signal.emit(net::cancellation_type::total);  // Too late for anything.
}
#endif

TEST_P(AsioOperations, EndWithTheirContext) {
  Outcome<Lease> first = gate_.enter();
  const auto alive = std::make_shared<int>();
  bool called = false;
  async_enter(gate_, net::bind_executor(
                         io_->get_executor(),
                         [&called, alive](std::exception_ptr, Outcome<Lease>) { called = true; }));
  EXPECT_TRUE(is_in_line(1));
  io_.reset();
  EXPECT_EQ(alive.use_count(), 1) << "the handler is destroyed";
  EXPECT_TRUE(store_.flush(kLong));
  EXPECT_EQ(waiting(), 0U);
  first->release();
  EXPECT_TRUE(gate_.enter());
  EXPECT_FALSE(called);
}

TEST_P(AsioOperations, GiveBackWhatTheirContextNeverHandsOut) {
  Outcome<Lease> first = gate_.enter();
  Seen seen;
  async_enter(gate_, note(seen));
  EXPECT_TRUE(is_in_line(1));
  first->release();
  while (store_.look("erp")->counters.granted != 2) std::this_thread::sleep_for(200us);
  io_.reset();
  EXPECT_FALSE(seen.lease);
  EXPECT_TRUE(gate_.enter());
}

// What arrives while the context ends is posted before, or not at all.
TEST_P(AsioOperations, MayArriveWhileTheirContextEnds) {
  const int rounds = GetParam() == std::string("redis") ? 50 : 200;
  for (int i = 0; i < rounds; ++i) {
    std::optional<Outcome<Lease>> first = gate_.enter();
    Seen seen;
    async_enter(gate_, note(seen));
    std::jthread release([&] { first.reset(); });
    for (int spin = 0; spin < i % 50; ++spin) std::this_thread::yield();
    io_ = std::make_unique<net::io_context>();
  }
  expect_nobody();
}

// --- with use_awaitable, where this Asio has it for this compiler ---

#if defined(BOOST_ASIO_HAS_CO_AWAIT) || defined(ASIO_HAS_CO_AWAIT)
TEST_P(AsioOperations, AreAwaitedByCoroutines) {
  std::optional<Outcome<Lease>> first = gate_.enter();
  std::vector<int> order;
  const auto pass = [](const Airlock gate, std::vector<int>& passed,
                       int number) -> net::awaitable<void> {
    const Outcome<Lease> lease = co_await async_enter(gate, net::use_awaitable);
    if (lease) passed.push_back(number);
  };
  for (int i = 0; i < 5; ++i) {
    net::co_spawn(*io_, pass(gate_, order, i), net::detached);
    while (waiting() != static_cast<std::uint32_t>(i) + 1) io_->poll();
  }
  first.reset();
  io_->run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
  expect_nobody();
}

// use_awaitable begins when it is awaited; by then the label's text may be gone.
TEST_P(AsioOperations, KeepTheirLabel) {
  const auto begin = [](const Airlock& gate) {
    const std::string label(50, 'x');
    const Ask ask{.label = label};
    return async_enter(gate, ask, net::use_awaitable);
  };
  std::optional<GateView> view;
  const auto enter = [](net::awaitable<Outcome<Lease>> entering, const Store& store,
                        std::optional<GateView>& seen) -> net::awaitable<void> {
    const Outcome<Lease> lease = co_await std::move(entering);
    seen = store.look("erp");
  };
  net::co_spawn(*io_, enter(begin(gate_), store_, view), net::detached);
  io_->run();
  ASSERT_TRUE(view);
  ASSERT_EQ(view->holders.size(), 1U);
  EXPECT_EQ(view->holders.front().label, std::string(50, 'x'));
}

TEST_P(AsioOperations, EndWithTheirContextWhenTheyAreCoroutines) {
  Outcome<Lease> first = gate_.enter();
  const auto enter = [](const Airlock gate) -> net::awaitable<void> {
    (void)co_await async_enter(gate, net::use_awaitable);
  };
  net::co_spawn(*io_, enter(gate_), net::detached);
  while (waiting() != 1) io_->poll();
  io_.reset();
  first->release();
  EXPECT_TRUE(gate_.enter());
  expect_nobody();
}

TEST_P(AsioOperations, ServeManyOnManyThreads) {
  constexpr int kVisitors = 64;
  std::atomic<int> inside = 0;
  std::atomic<int> entered = 0;
  const auto visit = [](const Airlock gate, std::atomic<int>& now,
                        std::atomic<int>& all) -> net::awaitable<void> {
    const Outcome<Lease> lease = co_await async_enter(gate, net::use_awaitable);
    EXPECT_TRUE(lease);
    EXPECT_EQ(++now, 1);
    ++all;
    --now;
  };
  for (int i = 0; i < kVisitors; ++i) {
    net::co_spawn(net::make_strand(*io_), visit(gate_, inside, entered), net::detached);
  }
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([this] { io_->run(); });
  }
  EXPECT_EQ(entered, kVisitors);
  expect_nobody();
}
#endif

AIRLOCK_REAL_STORE_SUITE(AsioOperations);

}  // namespace
}  // namespace airlock
