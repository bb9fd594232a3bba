#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/testing.hpp"
#include "store/backend.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/support/stepped_redis_store.hpp"
#include "store/sleeper.hpp"
#include "store/support/child.hpp"
#include "store/support/cpu_wait.hpp"
#include "store/support/failures.hpp"
#include "support/hooked_store.hpp"
#include "testing/stepped_clock.hpp"

// A thread that waits alone in its process hears the server's messages itself; the subscription's own
// thread does for everybody else, also for those who come and go meanwhile. What nobody hears at once
// is heard within a second, so many rounds of it take long.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using internal::SteppedClock;
using testing::asks;
using testing::ChaosProxy;
using testing::RedisServer;
using testing::unused_prefix;

constexpr int kRounds = 20;
constexpr auto kHeardAtOnce = 6s;  // All rounds together.

bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) == "S";
}

class RedisAwait : public ::testing::Test {
 protected:
  // Holds a gate that somebody waits for.
  class Turn {
   public:
    Turn(const Store& store, const GateName& gate)
        : store_(store), gate_(gate), holder_(hold(store, gate)) {}
    void pass() { pass(store_); }
    void pass(const Store& by) { EXPECT_TRUE(by.release(holder_)); }
    void join(const VisitorId& visitor) {
      Request request = asks(gate_, visitor);
      request.line.join = true;
      EXPECT_TRUE(std::holds_alternative<Queued>(store_.admit(request)));
    }
    void leave(const VisitorId& visitor) { EXPECT_TRUE(store_.leave(gate_, visitor)); }

   private:
    static Token hold(const Store& store, const GateName& gate) {
      return std::get<Granted>(store.admit(asks(gate, VisitorId::random()))).token;
    }
    const Store& store_;
    const GateName gate_;
    const Token holder_;
  };

  // A thread of its own that waits for its turn. It sleeps when it is made, and listens itself if it is
  // alone and not the first of its store.
  class Waiter {
   public:
    Waiter(Store store, const GateName& gate)
        : store_(std::move(store)), gate_(gate), turn_(store_, gate_) {
      turn_.join(visitor_);
      thread_ = std::jthread([this] {
        number_ = gettid();
        has_news_ = internal::backend_of(store_)->await(
            gate_, visitor_, sleeper_, internal::backend_of(store_)->clock().now() + 20s);
        done_ = true;
      });
      EXPECT_TRUE(becomes_true([&] { return done_ || (number_ != 0 && is_asleep(number_)); }));
    }
    void pass() { turn_.pass(); }
    void pass(const Store& by) { turn_.pass(by); }
    void wake() { sleeper_->wake(false); }
    void end(bool with_news = true) {
      thread_.join();
      EXPECT_EQ(has_news_, with_news);
      turn_.leave(visitor_);
    }
    [[nodiscard]] bool is_done() const { return done_; }
    [[nodiscard]] std::thread::id thread() const { return thread_.get_id(); }

   private:
    Store store_;
    const GateName gate_;
    Turn turn_;
    const VisitorId visitor_ = VisitorId::random();
    const std::shared_ptr<Sleeper> sleeper_ = std::make_shared<Sleeper>();
    std::atomic<pid_t> number_ = 0;
    bool has_news_ = false;
    std::atomic<bool> done_ = false;
    std::jthread thread_;
  };

  void pass_to_one_alone() { pass_to_one_alone(store_); }
  static void pass_to_one_alone(const Store& store) {
    Waiter alone(store, "alone");
    alone.pass();
    alone.end();
  }

  // Whether all rounds together took no longer than if each was heard at once.
  template <typename Round>
  static void expect_heard_at_once(const Round& round) {
    const auto start = SteadyClock::now();
    for (int i = 0; i < kRounds; ++i) round();
    EXPECT_LT(SteadyClock::now() - start, kHeardAtOnce);
  }

  [[nodiscard]] Store open(const redis::Address& address, Duration timeout = 5s) {
    return redis::make_store(
        {.address = address, .prefix = prefix_, .timeout = timeout, .hears = [this] {
           heard_by_ = std::this_thread::get_id();
           return true;
         }});
  }

  const std::string prefix_ = unused_prefix();
  std::atomic<std::thread::id> heard_by_;
  Store store_ = open(RedisServer::shared().address());
};

TEST_F(RedisAwait, WhoWaitsAloneHearsItself) {
  int by_itself = 0;
  expect_heard_at_once([&] {
    Waiter alone(store_, "gate");
    const std::thread::id own = alone.thread();
    alone.pass();
    alone.end();
    by_itself += heard_by_.load() == own ? 1 : 0;
  });
  EXPECT_GT(by_itself, 0);
}

TEST_F(RedisAwait, WhoComesMeanwhileIsToldByTheOneThatHears) {
  expect_heard_at_once([&] {
    Waiter first(store_, "first");
    Waiter second(store_, "second");
    second.pass();
    second.end();
    EXPECT_FALSE(first.is_done());
    first.pass();
    first.end();
  });
}

TEST_F(RedisAwait, WhoIsLeftWhenThatOneGoesIsTold) {
  expect_heard_at_once([&] {
    Waiter first(store_, "first");
    Waiter second(store_, "second");
    first.pass();
    first.end();
    second.pass();
    second.end();
  });
}

TEST_F(RedisAwait, TwoThatCameTogetherAreTold) {
  const VisitorId other = VisitorId::random();
  expect_heard_at_once([&] {
    pass_to_one_alone();
    Turn turn(store_, "other");
    turn.join(other);  // And will not sleep before the first one is told.
    pass_to_one_alone();
    turn.pass();
    turn.leave(other);
  });
}

TEST_F(RedisAwait, WhoWatchesAfterwardsIsTold) {
  const VisitorId visitor = VisitorId::random();
  expect_heard_at_once([&] {
    pass_to_one_alone();
    Turn turn(store_, "gate");
    turn.join(visitor);
    std::atomic<bool> told = false;
    EXPECT_TRUE(store_.watch("gate", visitor, [&] {
      told = true;
      told.notify_one();
    }));
    turn.pass();
    told.wait(false);
    turn.leave(visitor);
  });
}

TEST_F(RedisAwait, WhoseSubscriptionEndsIsToldToAsk) {
  expect_heard_at_once([&] {
    pass_to_one_alone();
    Waiter alone(store_, "gate");
    RedisServer::shared().command({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_TRUE(becomes_true([&] { return alone.is_done(); }));
    alone.pass();
    alone.end();
  });
}

TEST_F(RedisAwait, WhoHearsNothingAnyMoreIsToldToAsk) {
  ChaosProxy proxy(RedisServer::shared().socket(), RedisServer::shared().folder());
  const auto store = open(proxy.address(), 1s);
  pass_to_one_alone(store);
  Waiter alone(store, "gate");
  proxy.set(ChaosProxy::Fault::hold_reply);
  EXPECT_TRUE(becomes_true([&] { return alone.is_done(); }, 15s));
  proxy.set(ChaosProxy::Fault::none);
  alone.pass();
  alone.end();
}

TEST_F(RedisAwait, WhoHearsNonsenseIsToldToAsk) {
  ChaosProxy proxy(RedisServer::shared().socket(), RedisServer::shared().folder());
  const auto store = open(proxy.address());
  expect_heard_at_once([&] {
    pass_to_one_alone(store);
    Waiter alone(store, "gate");
    proxy.set(ChaosProxy::Fault::garbage);
    alone.pass(store_);
    EXPECT_TRUE(becomes_true([&] { return alone.is_done(); }));
    proxy.set(ChaosProxy::Fault::none);
    alone.end();
  });
}

TEST_F(RedisAwait, CallbacksOfOthersDoNotRunInItsPlace) {
  pass_to_one_alone();
  Turn turn(store_, "watched");
  const VisitorId watching = VisitorId::random();
  Waiter alone(store_, "gate");
  turn.join(watching);
  std::atomic<bool> told = false;
  EXPECT_TRUE(store_.watch("watched", watching, [&] { told = true; }));
  turn.pass();
  EXPECT_TRUE(becomes_true([&] { return told.load(); }));
  EXPECT_NE(heard_by_.load(), alone.thread());
  EXPECT_FALSE(alone.is_done());
  alone.pass();
  alone.end();
  turn.leave(watching);
}

TEST_F(RedisAwait, WhoHearsItselfIsStoppedAtOnce) {
  expect_heard_at_once([&] {
    Waiter alone(store_, "gate");
    alone.wake();
    alone.end(false);
    alone.pass();
  });
}

TEST_F(RedisAwait, WhoWasWokenBeforeDoesNotSleep) {
  Turn turn(store_, "gate");
  const VisitorId visitor = VisitorId::random();
  turn.join(visitor);
  const auto sleeper = std::make_shared<Sleeper>();
  const auto start = SteadyClock::now();
  for (int i = 0; i < 3; ++i) {
    sleeper->wake(false);
    EXPECT_FALSE(internal::backend_of(store_)->await(
        "gate", visitor, sleeper, internal::backend_of(store_)->clock().now() + 10s));
  }
  EXPECT_LT(SteadyClock::now() - start, 3s);
}

// The server may take its time to answer the question, but not the sleeper to wake.
TEST_F(RedisAwait, TheEndOfItsTimeWakesIt) {
  struct Moments : Observer {
    void on(const Event& event) override {
      if (event.kind == Event::Kind::queued) queued = SteadyClock::now();
    }
    SteadyClock::time_point queued;
  };
  const auto moments = std::make_shared<Moments>();
  const Airlock airlock(store_, "gate", {.limit = 1, .observer = moments});
  const Outcome<Lease> first = airlock.enter();
  for (int i = 0; i < 3; ++i) {
    const auto kept_before = testing::cpu_wait();
    const auto start = SteadyClock::now();
    EXPECT_FALSE(airlock.try_enter_for(60ms));
    const auto end = SteadyClock::now();
    EXPECT_GE(end - start, 60ms);
    EXPECT_LT(end - moments->queued - (testing::cpu_wait() - kept_before), 600ms)
        << i << ", " << (moments->queued - start) / 1ms << " ms before it waited";
  }
}

TEST_F(RedisAwait, AStoreEndsWhereOneHasHeardItself) {
  pass_to_one_alone();
  const auto start = SteadyClock::now();
  store_ = {};
  EXPECT_LT(SteadyClock::now() - start, 500ms);
}

// A turn comes every second. Who has two before it asks a second after its turn should have come, not
// at once: in a crowd many a wait is a little longer than expected.
TEST(RedisAsking, WhoWaitsLongAsksTheLaterWhenItsTurnIsLate) {
  SteppedClock clock;
  const auto inner = testing::redis_store(clock);
  const auto asks_at_gate = [](bool join) {
    Request request = asks("gate", VisitorId::random());
    request.permits->ttl = 1h;
    request.line = {.join = join, .patience = 1h, .claim_window = 1h};
    return request;
  };
  const Token first = std::get<Granted>(inner.admit(asks_at_gate(false))).token;
  for (int i = 0; i < 2; ++i) (void)inner.admit(asks_at_gate(true));
  clock.advance(1s);
  EXPECT_TRUE(inner.release(first));

  std::atomic<int> admits = 0;
  const HookedStore store(inner, [&](std::string_view step) { admits += step == "admit" ? 1 : 0; });
  std::stop_source stop;
  std::jthread waiter([&] {
    const Airlock airlock(store, "gate",
                          {.limit = 1, .max_wait = 1h, .patience = 1h, .claim_window = 1h});
    EXPECT_FALSE(airlock.enter({.stop = stop.get_token()}));
  });
  const auto pass = [&](Duration time) {
    EXPECT_TRUE(becomes_true([&] { return clock.waiting() == 1; }));
    clock.advance(time);
    EXPECT_TRUE(becomes_true([&] { return clock.waiting() == 1; }));  // Or again, after an ask.
  };
  pass(2900ms);
  EXPECT_EQ(admits, 1);
  pass(200ms);
  EXPECT_EQ(admits, 2);
  stop.request_stop();
}

}  // namespace
}  // namespace airlock
