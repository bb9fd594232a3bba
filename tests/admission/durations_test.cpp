#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/cooldown_seal.hpp"
#include "airlock/error.hpp"
#include "airlock/event_isolation.hpp"
#include "airlock/health_guard.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/mutex.hpp"
#include "airlock/rate_limiter_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "airlock/store.hpp"
#include "airlock/testing.hpp"
#include "testing/stepped_clock.hpp"

// Every public call that takes a duration, with every kind of duration: it returns, or says that the
// value is wrong. Sanitizers see that nothing overflows.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr std::array kValues = {
    Duration::min(), Duration::min() + 1us, -kForever,      -Duration(24h), Duration(-1us),
    Duration(0),     Duration(1us),         Duration(1ms),  Duration(10ms), Duration(1s),
    kMaxTtl,         kMaxTtl + 1us,         kForever - 1us, kForever};

struct AtEnd {
  std::function<void()> work;
  ~AtEnd() { work(); }
};

class Durations : public ::testing::Test {
 protected:
  using Call = std::function<void(Duration)>;
  struct Named {
    std::string name;
    Call call;
  };

  // True: it was taken; false: InvalidArgument.
  static bool takes(const Named& named, Duration value) {
    SCOPED_TRACE(named.name + " " + to_text(value));
    try {
      named.call(value);
      return true;
    } catch (const InvalidArgument& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    } catch (const SealAcquiringError& error) {
      ADD_FAILURE() << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    return false;
  }

  [[nodiscard]] Airlock airlock(AirlockOptions options, const GateName& gate = "free") const {
    options.limit = 1;
    return {store_, gate, options};
  }
  [[nodiscard]] Request request(const GateName& gate = "free") const {
    return {.gate = gate, .visitor = VisitorId::random(), .permits = Permits{.limit = 1}};
  }
  void enter_and_leave(const Airlock& airlock, const Ask& ask = {}) const {
    (void)airlock.enter(ask);
  }
  void ask_store(const Request& request) const {
    const Answer answer = store_.admit(request);
    if (const auto* granted = std::get_if<Granted>(&answer)) store_.release(granted->token);
    store_.leave(request.gate, request.visitor);
  }

  Store store_ = open_store("memory:");
};

TEST_F(Durations, OfAnyUnitAreTakenAndRoundedUp) {
  const AirlockOptions options{.ttl = 0.5s, .max_wait = std::chrono::nanoseconds(1)};
  EXPECT_EQ(options.ttl, 500ms);
  EXPECT_EQ(options.max_wait, 1us);
  EXPECT_EQ(AnyDuration(std::chrono::years::max()), kForever);
  EXPECT_EQ(AnyDuration(std::chrono::duration<double>(-1e300)), Duration::min());
  EXPECT_LE(airlock(options).try_enter().value().remaining(), 490ms);
}

TEST_F(Durations, OfOptionsAreTakenOrRefused) {
  const std::vector<Named> calls = {
      {"ttl", [&](Duration d) { enter_and_leave(airlock({.ttl = d})); }},
      {"max_wait", [&](Duration d) { enter_and_leave(airlock({.max_wait = d})); }},
      {"max_hold", [&](Duration d) { enter_and_leave(airlock({.max_hold = d})); }},
      {"patience", [&](Duration d) { enter_and_leave(airlock({.patience = d})); }},
      {"claim_window", [&](Duration d) { enter_and_leave(airlock({.claim_window = d})); }},
      {"refuse_late",
       [&](Duration d) { enter_and_leave(airlock({.max_wait = d, .refuse_late = true})); }},
      {"bulkhead ttl",
       [&](Duration d) { Bulkhead(store_, "b", {.limit = 1, .ttl = d}).call([] {}); }},
      {"bulkhead max_wait",
       [&](Duration d) { Bulkhead(store_, "b", {.limit = 1, .max_wait = d}).call([] {}); }},
      {"bulkhead max_hold",
       [&](Duration d) { Bulkhead(store_, "b", {.limit = 1, .max_hold = d}).call([] {}); }},
      {"mutex ttl",
       [&](Duration d) {
         Mutex mutex(store_, "m", {.ttl = d});
         const std::scoped_lock lock(mutex);
       }},
      {"keyed lock ttl", [&](Duration d) { (void)KeyedLock(store_, "k", {.ttl = d}).lock("1"); }},
      {"keyed lock max_hold",
       [&](Duration d) { (void)KeyedLock(store_, "k", {.max_hold = d}).lock("1"); }},
      {"isolation ttl", [&](Duration d) { (void)EventIsolation(store_, {.ttl = d}).lock(""); }},
      {"isolation timeout",
       [&](Duration d) { (void)EventIsolation(store_, {.max_wait = d}).lock(""); }},
      {"isolation max_hold",
       [&](Duration d) { (void)EventIsolation(store_, {.max_hold = d}).lock(""); }},
      {"health interval",
       [&](Duration d) {
         const HealthGuard guard(store_, "h", {.health = [] { return 1.0; }, .interval = d});
       }},
      {"lock seal", [&](Duration d) { (void)LockSeal(store_, "l", {.ttl = d}).try_acquire(); }},
      {"semaphore seal",
       [&](Duration d) { (void)SemaphoreSeal(store_, "s", {.limit = 1, .ttl = d}).try_acquire(); }},
      {"cooldown seal", [&](Duration d) { (void)CooldownSeal(store_, "c", d).try_acquire(); }},
      {"rate",
       [&](Duration d) {
         (void)RateLimiterSeal(store_, "r", {{.count = 1, .period = d}}).try_acquire();
       }},
  };
  for (const Named& call : calls) {
    for (const Duration value : kValues) {
      const bool taken = takes(call, value);
      EXPECT_FALSE(taken && value < Duration(0)) << call.name << " " << to_text(value);
    }
    EXPECT_TRUE(takes(call, 1s)) << call.name;
  }
}

// Time that is left of something may be below 0.
TEST_F(Durations, OfWaitsAreTakenWhateverTheyAre) {
  const std::vector<Named> calls = {
      {"try_enter_for", [&](Duration d) { (void)airlock({}).try_enter_for(d); }},
      {"join_for", [&](Duration d) { (void)airlock({}).join_for(d).wait(); }},
      {"try_call_for",
       [&](Duration d) { (void)Bulkhead(store_, "b", {.limit = 1}).try_call_for(d, [] {}); }},
      {"try_lock_for", [&](Duration d) { (void)KeyedLock(store_, "k").try_lock_for("1", d); }},
  };
  for (const Named& call : calls) {
    for (const Duration value : kValues) EXPECT_TRUE(takes(call, value)) << call.name;
  }
}

TEST_F(Durations, OfCallsAreTakenOrRefused) {
  const std::vector<Named> calls = {
      {"permits ttl",
       [&](Duration d) {
         Request asked = request();
         asked.permits->ttl = d;
         ask_store(asked);
       }},
      {"patience",
       [&](Duration d) {
         Request asked = request();
         asked.line = {.join = true, .patience = d};
         ask_store(asked);
       }},
      {"claim window",
       [&](Duration d) {
         Request asked = request();
         asked.line = {.join = true, .claim_window = d};
         ask_store(asked);
       }},
      {"max_eta",
       [&](Duration d) {
         Request asked = request();
         asked.line = {.join = true, .max_eta = d};
         ask_store(asked);
       }},
      {"max_delay",
       [&](Duration d) {
         const Rate rate{.count = 1, .period = 1s};
         ask_store({.gate = "delay",
                    .visitor = VisitorId::random(),
                    .rates = {&rate, 1},
                    .mode = RateMode::reserve,
                    .max_delay = d});
       }},
      {"dedupe",
       [&](Duration d) {
         const Rate rate{.count = 1, .period = 1s};
         ask_store(
             {.gate = "dedupe", .visitor = VisitorId::random(), .rates = {&rate, 1}, .dedupe = d});
       }},
      {"pause",
       [&](Duration d) {
         store_.pause("paused", d);
         store_.resume("paused");
       }},
      {"renew",
       [&](Duration d) {
         const Answer answer = store_.admit(request("renewed"));
         const Token token = std::get<Granted>(answer).token;
         const AtEnd end{[&] { store_.release(token); }};
         (void)store_.renew(token, d);
       }},
      {"adopt",
       [&](Duration d) {
         const Token token = airlock({}, "adopted").try_enter()->detach();
         const AtEnd end{[&] { store_.release(token); }};
         Lease::adopt(store_, token, d).release();
       }},
      {"seal renew",
       [&](Duration d) {
         const LockSeal seal(store_, "renewed-seal");
         auto held = seal.try_acquire();
         const AtEnd end{[&] { store_.release(held->token); }};
         seal.renew(*held, d);
       }},
      {"reserve",
       [&](Duration d) {
         (void)RateLimiterSeal(store_, "reserve", {{.count = 1, .period = 1s}}).reserve(1, d);
       }},
      {"admit",
       [&](Duration d) {
         const VisitorId visitor = VisitorId::random();
         const Answer answer = airlock({.max_wait = d, .refuse_late = true}).admit(visitor);
         if (const auto* granted = std::get_if<Granted>(&answer)) store_.release(granted->token);
       }},
  };
  for (const Named& call : calls) {
    for (const Duration value : kValues) {
      const bool taken = takes(call, value);
      EXPECT_FALSE(taken && value < Duration(0)) << call.name << " " << to_text(value);
    }
    EXPECT_TRUE(takes(call, 1s)) << call.name;
  }
}

TEST_F(Durations, UpToNothingNeverWait) {
  const Outcome<Lease> holder = airlock({}, "full").try_enter();
  Mutex mutex(store_, "full", {.readers = 1});
  for (const Duration value : kValues) {
    if (value > Duration(0)) continue;
    EXPECT_FALSE(mutex.try_lock_for(value));
    EXPECT_FALSE(mutex.try_lock_shared_for(value));
    EXPECT_FALSE(store_.drain(value)) << to_text(value);
    EXPECT_TRUE(store_.flush(value)) << to_text(value);
    EXPECT_FALSE(airlock({}, "full").try_enter_for(value));
  }
}

TEST_F(Durations, OfOtherUnitsAreNeitherCutOffNorWrappedAround) {
  using Steady = std::chrono::steady_clock;
  using Days = std::chrono::duration<std::int64_t, std::ratio<86400>>;
  Mutex mutex(store_, "mutex");
  const auto locks = [&](auto lock) {
    const bool locked = lock();
    if (locked) mutex.unlock();
    return locked;
  };
  EXPECT_TRUE(locks([&] { return mutex.try_lock_for(seconds::max()); }));
  EXPECT_TRUE(locks([&] { return mutex.try_lock_for(Days::max()); }));
  EXPECT_TRUE(locks([&] { return mutex.try_lock_for(std::chrono::nanoseconds::max()); }));
  EXPECT_TRUE(locks([&] { return mutex.try_lock_for(seconds::min()); })) << "one attempt";
  EXPECT_TRUE(locks([&] { return mutex.try_lock_for(std::chrono::duration<double>(1e300)); }));
  EXPECT_TRUE(locks([&] { return mutex.try_lock_until(Steady::time_point::max()); }));
  EXPECT_TRUE(locks([&] { return mutex.try_lock_until(Steady::time_point::min()); }));
  EXPECT_TRUE(locks([&] {
    return mutex.try_lock_until(std::chrono::time_point<Steady, seconds>(seconds::max()));
  }));
  EXPECT_TRUE(
      locks([&] { return mutex.try_lock_until(std::chrono::system_clock::time_point::max()); }));
}

// What waits for ever waits: it is not over at once.
TEST_F(Durations, ThatNeverEndWaitForTheirTurn) {
  Mutex mutex(store_, "mutex");
  Mutex same(store_, "mutex");
  mutex.lock();
  std::jthread waiter([&] {
    EXPECT_TRUE(same.try_lock_for(seconds::max()));
    same.unlock();
  });
  while (store_.look("mutex")->counts.waiting == 0) std::this_thread::yield();
  mutex.unlock();
}

TEST_F(Durations, ThatMakeNoValidLeaseAreRefused) {
  for (const Duration ttl : {Duration(1us), Duration(1ms), Duration(10ms)}) {
    try {
      (void)airlock({.ttl = ttl});
      ADD_FAILURE() << to_text(ttl);
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("more than 10ms"), std::string::npos);
    }
    EXPECT_THROW((void)airlock({.max_hold = ttl}), InvalidArgument);
  }
  internal::SteppedClock clock;
  const Airlock shortest(testing::memory_store(clock), "shortest", {.limit = 1, .ttl = 11ms});
  EXPECT_TRUE(shortest.try_enter()->valid());
}

TEST_F(Durations, TheStoreIsNeededToEndItsUse) {
  EXPECT_THROW(Store().close(), InvalidArgument);
  EXPECT_THROW((void)Store().drain(1s), InvalidArgument);
  EXPECT_THROW((void)Store().flush(1s), InvalidArgument);
}

}  // namespace
}  // namespace airlock
