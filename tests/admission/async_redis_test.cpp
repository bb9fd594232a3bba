#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/mailbox.hpp"
#include "airlock/store.hpp"
#include "store/redis/support/bare_cluster.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/support/slow_link.hpp"
#include "store/support/cpu_wait.hpp"
#include "store/support/temp_dir.hpp"

// Who waits at a Redis server without a thread of its own: never blocks, and asks together with others.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::BareCluster;
using testing::cpu_wait_of_process;
using testing::RedisServer;
using testing::SlowLink;
using testing::unused_prefix;
using TimePoint = std::chrono::steady_clock::time_point;

TimePoint now() { return std::chrono::steady_clock::now(); }

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

template <typename Condition>
[[nodiscard]] bool eventually(Condition condition, std::chrono::milliseconds at_most = 20s) {
  const TimePoint end = now() + at_most;
  while (!condition()) {
    if (now() > end) return false;
    std::this_thread::sleep_for(200us);
  }
  return true;
}

// What became of many, and in how many milliseconds the last of them was decided.
class Decisions {
 public:
  void note(Arrival& arrival, TimePoint began) {
    const double at = milliseconds(now() - began);
    double longest = longest_;
    while (longest < at && !longest_.compare_exchange_weak(longest, at)) continue;
    try {
      ++(arrival.take() ? granted_ : refused_);
    } catch (const SealAcquiringError&) {
      ++failed_;
    } catch (const StoreError& error) {
      ++(error.kind() == StoreError::Kind::closed ? closed_ : failed_);
    }
    ++all_;
  }
  [[nodiscard]] Airlock::Callback callback() {
    return [this, began = now()](Arrival& arrival) { note(arrival, began); };
  }

  [[nodiscard]] int all() const noexcept { return all_; }
  [[nodiscard]] int granted() const noexcept { return granted_; }
  [[nodiscard]] int refused() const noexcept { return refused_; }
  [[nodiscard]] int failed() const noexcept { return failed_; }
  [[nodiscard]] int closed() const noexcept { return closed_; }
  [[nodiscard]] double longest() const noexcept { return longest_; }

 private:
  std::atomic<double> longest_ = 0;
  std::atomic<int> granted_ = 0;
  std::atomic<int> refused_ = 0;
  std::atomic<int> failed_ = 0;
  std::atomic<int> closed_ = 0;
  std::atomic<int> all_ = 0;
};

// A real server of one's own that is stopped as by SIGSTOP, and continues at the end.
class StoppedServer : public ::testing::Test {
 protected:
  ~StoppedServer() override { resume(); }

  void stop() const { kill(server_.pid(), SIGSTOP); }
  void resume() const { kill(server_.pid(), SIGCONT); }

  [[nodiscard]] Store open(const std::string& timeout) const {
    return open_store(server_.uri() + "?timeout=" + timeout + "&prefix=" + prefix_);
  }
  // Whether the gate is empty, for all that can be known.
  [[nodiscard]] static bool is_empty(const Store& store) try {
    const auto view = store.look("erp");
    return !view || view->counts.holders + view->counts.waiting == 0;
  } catch (const StoreError&) {
    return false;
  }

  RedisServer server_;
  const std::string prefix_ = unused_prefix();
};

// The call blocked for the store's timeout: its first question was asked on the thread of its caller.
TEST_F(StoppedServer, BlocksNoCallerAndEverybodyIsDecidedInTime) {
  constexpr int kCalls = 1'000;
  const Store store = open("1s");
  const Airlock erp(store, "erp", {.limit = 1, .max_wait = 500ms});
  for (const bool connected : {false, true}) {
    if (connected) (void)erp.try_enter();
    stop();
    Decisions decisions;
    std::vector<double> took;
    for (int i = 0; i < kCalls; ++i) {
      const auto without_cpu = cpu_wait_of_process();  // Of whoever has a lock that it needs, too.
      const TimePoint start = now();
      erp.enter_async({}, decisions.callback());
      const auto time = now() - start;
      took.push_back(milliseconds(time - (cpu_wait_of_process() - without_cpu)));
    }
    std::ranges::sort(took);
    const double p99 = took[kCalls * 99 / 100];
    EXPECT_LT(p99, 1.0);
    EXPECT_LT(took.back(), 100.0);
    ASSERT_TRUE(eventually([&] { return decisions.all() == kCalls; })) << decisions.all();
    EXPECT_EQ(decisions.failed(), kCalls);
    // The store's timeout counts for the first question, also where max_wait is shorter.
    EXPECT_LT(decisions.longest(), 1'000 + 500) << "50 and what a busy machine adds";
    std::printf("  p99 of a call %.3f ms, longest %.3f ms; all decided within %.0f ms\n", p99,
                took.back(), decisions.longest());
    resume();
    EXPECT_TRUE(eventually([&] { return is_empty(store); })) << "nothing is left behind";
  }
}

// While its question is on its way, and before.
TEST_F(StoppedServer, DelaysNobodyWhoIsCancelledOrClosed) {
  const Store store = open("5s");
  Decisions decisions;
  {
    const Airlock erp(store, "erp", {.limit = 1, .ttl = 1h, .max_wait = 1h});
    (void)erp.try_enter();
    stop();
    std::stop_source stop_all;
    for (int i = 0; i < 100; ++i) {
      erp.enter_async({.stop = stop_all.get_token()}, decisions.callback());
    }
    stop_all.request_stop();
    ASSERT_TRUE(eventually([&] { return decisions.all() == 100; }, 2s)) << decisions.all();
    EXPECT_EQ(decisions.refused(), 100);
    for (int i = 0; i < 100; ++i) erp.enter_async({}, decisions.callback());
  }
  store.close();
  ASSERT_TRUE(eventually([&] { return decisions.all() == 200; }, 2s)) << decisions.all();
  EXPECT_EQ(decisions.closed(), 100);
  EXPECT_EQ(decisions.granted(), 0);
  resume();
  const Store other = open("5s");
  EXPECT_TRUE(eventually([&] { return is_empty(other); })) << "what came too late is given back";
}

// Its question was answered, and the answer did not come.
TEST_F(StoppedServer, KeepsNothingForWhoWasCancelledMeanwhile) {
  testing::ChaosProxy proxy(server_.socket(), server_.folder());
  const Store store =
      open_store("redis+unix://" + proxy.address().path + "?timeout=1s&prefix=" + prefix_);
  const Store direct = open("5s");
  const Airlock erp(store, "erp", {.limit = 1, .ttl = 1h, .max_wait = 1h});
  erp.try_enter()->release();
  proxy.set(testing::ChaosProxy::Fault::hold_reply);
  Decisions decisions;
  std::stop_source stop;
  erp.enter_async({.stop = stop.get_token()}, decisions.callback());
  ASSERT_TRUE(eventually([&] { return !is_empty(direct); })) << "it is in";
  stop.request_stop();
  EXPECT_TRUE(eventually([&] { return decisions.refused() == 1; }));
  proxy.set(testing::ChaosProxy::Fault::none);
  EXPECT_TRUE(eventually([&] { return is_empty(direct); })) << "and out again";
}

TEST_F(StoppedServer, CallsBackAlsoThoseWhoHaveLetGoOfEverything) {
  Decisions decisions;
  stop();
  {
    Mailbox unused;
    const Airlock erp(open("300ms"), "erp", {.limit = 1, .max_wait = 0s});
    for (int i = 0; i < 10; ++i) erp.enter_async({}, decisions.callback());
    for (int i = 0; i < 10; ++i) erp.enter_async({}, decisions.callback(), unused);
  }
  EXPECT_TRUE(eventually([&] { return decisions.all() == 10; }));
  EXPECT_EQ(decisions.failed(), 10);
}

// Where Redis is another store than others: what needs no question is thrown before anything is asked.
TEST_F(StoppedServer, IsNotAskedWhatIsWrong) {
  const Store store = open("1s");
  const Airlock erp(store, "erp", {.limit = 1});
  stop();
  EXPECT_THROW(erp.enter_async({.weight = 2}, {}), InvalidArgument);
  store.close();
  EXPECT_THROW(erp.enter_async({}, {}), StoreError);
}

// --- together ---

// A server behind a link that takes so long, and what a thousand async waiters of one process get done in
// a second there.
class FarServer : public ::testing::Test {
 protected:
  static constexpr int kWaiters = 1'000;

  struct Rates {
    double handed_over;
    double admitted;
  };

  static Rates rates_at(std::chrono::milliseconds round_trip) {
    const RedisServer server;
    const SlowLink link(server.address(), round_trip);
    const Store store = open_store("redis://" + link.text() + "?timeout=5s");
    const Airlock erp(store, "erp", {.limit = kWaiters, .ttl = 1min, .max_wait = 1min});
    Outcome<Lease> everything = erp.try_enter({.weight = kWaiters});
    Decisions waiters;
    for (int i = 0; i < kWaiters; ++i) erp.enter_async({}, waiters.callback());
    EXPECT_TRUE(eventually([&] { return store.look("erp")->counts.waiting == kWaiters; }));
    const double handed_over = rate_of(waiters, [&] { everything->release(); });
    EXPECT_TRUE(store.flush(10s));
    Decisions newcomers;
    const double admitted = rate_of(newcomers, [&] {
      for (int i = 0; i < kWaiters; ++i) erp.enter_async({}, newcomers.callback());
    });
    std::printf("  %ld ms away: %.0f hand-overs and %.0f admissions per second\n",
                static_cast<long>(round_trip.count()), handed_over, admitted);
    return {handed_over, admitted};
  }

  template <typename Start>
  static double rate_of(const Decisions& decisions, Start start) {
    const TimePoint began = now();
    start();
    EXPECT_TRUE(eventually([&] { return decisions.all() == kWaiters; }));
    EXPECT_EQ(decisions.granted(), kWaiters);
    return kWaiters / (milliseconds(now() - began) / 1000);
  }
};

// One round trip after the other lets in at most 50 in a second, however fast the machine is. Twice that
// is only to be had by asking together, however slow it is.
TEST_F(FarServer, LetsInAThousandAsyncWaitersTogether) {
  constexpr auto kRoundTrip = 20ms;
  constexpr double kOneByOne = 1s / kRoundTrip;
  const Rates rates = rates_at(kRoundTrip);
  EXPECT_GT(rates.handed_over, 2 * kOneByOne);
  EXPECT_GT(rates.admitted, 2 * kOneByOne);
}

TEST(StoppedNode, DelaysNoAsyncEntryAtAnother) {
  BareCluster cluster(3);
  const Store store = open_store(cluster.uri("timeout=4s"));
  const std::string stopped = cluster.tag_at(1);
  const std::string healthy = cluster.tag_at(0);
  const AirlockOptions options{.limit = 1'000, .max_wait = 1min};
  const Airlock here(store, healthy, options);
  const Airlock there(store, stopped, options);
  (void)here.try_enter();
  (void)there.try_enter();
  cluster.node(1).stop();
  Decisions at_stopped;
  Decisions at_healthy;
  for (int i = 0; i < 100; ++i) {
    there.enter_async({}, at_stopped.callback());
    here.enter_async({}, at_healthy.callback());
  }
  EXPECT_TRUE(eventually([&] { return at_healthy.all() == 100; }, 3s)) << at_healthy.all();
  EXPECT_EQ(at_healthy.granted(), 100);
  EXPECT_EQ(at_stopped.all(), 0);
  cluster.node(1).go_on();
  EXPECT_TRUE(eventually([&] { return at_stopped.all() == 100; }));
}

// --- a crowd that changes its mind ---

struct StoreOf {
  const char* name;
  std::string (*uri)(const TempDir& dir);
};

class AsyncCrowd : public ::testing::TestWithParam<StoreOf> {};

TEST_P(AsyncCrowd, IsDecidedToTheLastWhoeverGivesUp) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kWaiters = 1'000;
#else
  constexpr int kWaiters = 10'000;
#endif
  const TempDir dir;
  const Store store = open_store(GetParam().uri(dir));
  const auto witness = std::make_shared<int>(0);
  std::atomic<int> decided = 0;
  std::atomic<int> granted = 0;
  {
    const Airlock erp(store, "erp", {.limit = 10, .ttl = 1h, .max_wait = 1h});
    Mailbox mailbox;
    Outcome<Lease> everything = erp.try_enter({.weight = 10});
    ASSERT_TRUE(everything);
    std::vector<std::stop_source> stops(kWaiters);
    const auto on_arrival = [&, witness](Arrival& arrival) {
      granted += arrival.take().has_value() ? 1 : 0;
      ++decided;
    };
    std::minstd_rand random(1);
    for (int i = 0; i < kWaiters; ++i) {
      const Ask ask{.stop = stops[static_cast<std::size_t>(i)].get_token()};
      if (i % 2 == 0) {
        erp.enter_async(ask, on_arrival);
      } else {
        erp.enter_async(ask, on_arrival, mailbox);
      }
      if (random() % 4 == 0) stops[random() % static_cast<unsigned>(i + 1)].request_stop();
      if (i == kWaiters / 2) everything->release();
      mailbox.run();
    }
    while (decided < kWaiters) {
      stops[random() % kWaiters].request_stop();
      pollfd event{.fd = mailbox.fd(), .events = POLLIN, .revents = 0};
      if (poll(&event, 1, 1) == 1) mailbox.run();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(granted, kWaiters / 10);
  EXPECT_TRUE(store.flush(20s));
  EXPECT_TRUE(store.drain(20s));
  const auto view = store.look("erp");
  EXPECT_EQ(view ? view->counts.holders + view->counts.waiting : 0, 0U);
  EXPECT_TRUE(eventually([&] { return witness.use_count() == 1; })) << "a callback is left";
}

const StoreOf kStores[] = {
    {"memory", [](const TempDir& /*dir*/) { return std::string("memory:"); }},
    {"shm", [](const TempDir& dir) { return "shm:crowd?dir=" + dir.path(); }},
    {"redis",
     [](const TempDir& /*dir*/) {
       return RedisServer::shared().uri() + "?timeout=10s&prefix=" + unused_prefix();
     }},
};

INSTANTIATE_TEST_SUITE_P(Stores, AsyncCrowd, ::testing::ValuesIn(kStores),
                         [](const auto& store) { return std::string(store.param.name); });

}  // namespace
}  // namespace airlock
