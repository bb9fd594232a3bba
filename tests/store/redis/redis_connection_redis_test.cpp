#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/any_clock.hpp"
#include "store/support/cpu_wait.hpp"
#include "store/support/failures.hpp"

// What a network and a server can do to a store.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::AnyClock;
using testing::asks;
using testing::ChaosProxy;
using testing::cpu_wait;
using testing::failure_of;
using testing::RedisServer;
using testing::unused_prefix;
using Fault = ChaosProxy::Fault;
using Kind = StoreError::Kind;
using Result = StoreError::Outcome;

class RedisConnection : public ::testing::Test {
 protected:
  static RedisServer& server() { return RedisServer::shared(); }

  static Store store(const redis::Address& address, Duration timeout = 1s) {
    return redis::make_store({.address = address, .prefix = unused_prefix(), .timeout = timeout});
  }

  // Where the timeout is short and the machine has more to do, more than one attempt is needed.
  static void make_gate(const Store& store, const GateName& gate) {
    for (bool made = false; !made;) {
      try {
        made = std::holds_alternative<Granted>(store.admit(asks(gate, VisitorId::random())));
      } catch (const StoreError&) {
        std::this_thread::sleep_for(1ms);
      }
    }
  }

  // The first answer of a store that was cut off and is not any more.
  template <typename Step>
  static auto when_it_answers(const Step& step) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    for (;;) {
      try {
        return step();
      } catch (const StoreError&) {
        if (std::chrono::steady_clock::now() > end) throw;
        std::this_thread::sleep_for(1ms);
      }
    }
  }

  ChaosProxy proxy_{server().socket(), server().folder()};
  Store store_ = store(proxy_.address());
};

TEST_F(RedisConnection, AnAcquireAndAReleaseAreOneRoundTripEach) {
  (void)store_.admit(asks("warm", VisitorId::random()));
  const Answer first = store_.admit(asks("gate", VisitorId::random()));
  (void)store_.release(std::get<Granted>(first).token);
  std::uint64_t before = proxy_.requests();
  Request ask = asks("gate", VisitorId::random());
  ask.line.join = true;
  const Answer answer = store_.admit(ask);
  EXPECT_EQ(proxy_.requests() - before, 1U);
  before = proxy_.requests();
  EXPECT_TRUE(store_.release(std::get<Granted>(answer).token));
  EXPECT_EQ(proxy_.requests() - before, 1U);
}

TEST_F(RedisConnection, ManyLeasesAreRenewedTogether) {
  std::vector<RenewItem> items;
  for (int i = 0; i < 100; ++i) {
    const Answer answer = store_.admit(asks("gate", VisitorId::random(), 100));
    items.push_back({.token = std::get<Granted>(answer).token, .ttl = 30s});
  }
  store_.renew(items);
  const std::uint64_t before = proxy_.requests();
  store_.renew(items);
  EXPECT_LE(proxy_.requests() - before, 3U);
  for (const RenewItem& item : items) EXPECT_EQ(item.result, Renewal::renewed);
}

TEST_F(RedisConnection, OneLostReplyIsUnnoticedByWhoAsks) {
  (void)store_.admit(asks("warm", VisitorId::random()));
  proxy_.set(Fault::lose_one);
  const Answer answer = store_.admit(asks("gate", VisitorId::random()));
  EXPECT_TRUE(std::holds_alternative<Granted>(answer));
  EXPECT_EQ(store_.look("gate")->counters.granted, 1U);
}

TEST_F(RedisConnection, WhetherItWasLiveIsNotKnownWhereTheReplyOfAReleaseIsLost) {
  const Token token = std::get<Granted>(store_.admit(asks("gate", VisitorId::random()))).token;
  proxy_.set(Fault::lose_one);
  const auto failure = failure_of([&] { (void)store_.release(token); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::unavailable);
  EXPECT_EQ(failure->outcome(), Result::unknown);
  EXPECT_EQ(store_.look("gate")->counts.holders, 0U);
}

// The second attempt cannot even connect, so it did nothing; the first one has done it all.
TEST_F(RedisConnection, WhatTheFirstAttemptMayHaveDoneIsUnknownWhateverBecomesOfTheSecond) {
  const auto enter = [&] {
    return std::get<Granted>(store_.admit(asks("gate", VisitorId::random()))).token;
  };
  const auto outcome_of = [&](const auto& step) {
    const auto failure = failure_of(step);
    proxy_.set(Fault::none);
    make_gate(store_, unused_prefix());  // It is connected again,
    (void)store_.id();                   // and the next reply that can be lost is the step's.
    proxy_.set(Fault::lose_reply);
    return failure ? failure->outcome() : Result::nothing_happened;
  };
  Token token = enter();  // Once as it should be, so that the server knows the scripts.
  (void)store_.renew(token, 30s);
  (void)store_.release(token);
  token = enter();
  proxy_.set(Fault::lose_reply);
  EXPECT_EQ(outcome_of([&] { (void)store_.renew(token, 30s); }), Result::unknown);
  EXPECT_EQ(outcome_of([&] { (void)store_.release(token); }), Result::unknown);
  EXPECT_EQ(outcome_of([&] { (void)enter(); }), Result::unknown);
  proxy_.set(Fault::none);
  EXPECT_EQ(store_.look("gate")->counters.granted, 3U);
}

TEST_F(RedisConnection, ALostReplyIsAskedForAgain) {
  const VisitorId ann = VisitorId::random();
  (void)store_.admit(asks("warm", ann));
  proxy_.set(Fault::lose_reply);
  std::thread heals([&] {
    std::this_thread::sleep_for(100ms);
    proxy_.set(Fault::none);
  });
  std::optional<Answer> answer;
  while (!answer) {
    try {
      answer = store_.admit(asks("gate", ann));
    } catch (const StoreError& error) {
      EXPECT_TRUE(error.kind() == Kind::unavailable) << error.what();
      std::this_thread::sleep_for(5ms);
    }
  }
  heals.join();
  EXPECT_TRUE(std::holds_alternative<Granted>(*answer));
  EXPECT_EQ(store_.look("gate")->counts.holders, 1U);
  EXPECT_EQ(store_.look("gate")->counters.granted, 1U);
}

TEST_F(RedisConnection, LostRepliesLeakNoSlotAndGrantNothingTwice) {
  constexpr std::uint32_t kLimit = 3;
  proxy_.set(Fault::lose_reply, 30);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const auto visit = [&] {
    for (int i = 0; i < 100; ++i) {
      const VisitorId visitor = VisitorId::random();
      std::optional<Token> token;
      for (;;) {
        try {
          const Answer answer = store_.admit(asks("gate", visitor, kLimit));
          if (const auto* granted = std::get_if<Granted>(&answer)) token = granted->token;
          break;
        } catch (const StoreError&) {
          std::this_thread::sleep_for(1ms);
        }
      }
      if (!token) continue;
      const int now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      --inside;
      for (bool released = false; !released;) {
        try {
          (void)store_.release(*token);
          released = true;
        } catch (const StoreError&) {
          std::this_thread::sleep_for(1ms);
        }
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(visit);
  for (std::thread& thread : threads) thread.join();
  proxy_.set(Fault::none);
  EXPECT_LE(most, static_cast<int>(kLimit));
  const auto view = when_it_answers([&] { return store_.look("gate"); });
  EXPECT_EQ(view->counts.holders, 0U);
  EXPECT_EQ(view->counts.in_use, 0U);
}

TEST_F(RedisConnection, ARateIsNotChargedTwiceForALostReply) {
  const Rate hourly{.count = 100, .period = 1h};
  Request ask{.gate = "gate", .visitor = VisitorId::random(), .rates = {&hourly, 1}};
  (void)store_.admit(ask);
  proxy_.set(Fault::lose_one);  // Whoever asked again would get an answer.
  const auto failure = failure_of([&] { (void)store_.admit(ask); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome(), Result::unknown);
  proxy_.set(Fault::none);
  const auto view = when_it_answers([&] { return store_.look("gate"); });
  EXPECT_EQ(view->rates.at(0).info.remaining, 98U);
}

class BlackHole : public RedisConnection, public ::testing::WithParamInterface<Fault> {};

TEST_P(BlackHole, EveryCallEndsWithItsDeadline) {
  constexpr auto kTimeout = 200ms;
  const auto quick = store(proxy_.address(), kTimeout);
  make_gate(quick, "gate");
  const auto other = store(server().address(), 5s);
  (void)other.admit(asks("gate", VisitorId::random()));
  proxy_.set(GetParam());
  const VisitorId ann = VisitorId::random();
  const Token token{.store = quick.id(), .gate = "gate", .visitor = ann, .fence = 1};
  const std::vector<std::function<void()>> calls = {
      [&] { (void)quick.look("gate"); }, [&] { (void)quick.admit(asks("gate", ann)); },
      [&] { (void)quick.renew(token, 1s); }, [&] { (void)quick.release(token); },
      [&] { (void)quick.list(); }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto waited = cpu_wait();
    const auto start = std::chrono::steady_clock::now();
    const auto failure = failure_of(calls[i]);
    const auto took = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(failure) << i;
    EXPECT_LE(took - (cpu_wait() - waited), kTimeout + 50ms) << i;
    EXPECT_TRUE(other.look("gate").has_value());
  }
  proxy_.set(Fault::none);
  // Connections that were held are not used again.
  EXPECT_TRUE(when_it_answers([&] { return quick.look("gate"); }).has_value());
}

INSTANTIATE_TEST_SUITE_P(Directions, BlackHole,
                         ::testing::Values(Fault::hold_reply, Fault::hold_request));

TEST_F(RedisConnection, OneAtATimeTriesAServerThatDoesNotAnswerTheOthersFailAtOnce) {
  constexpr auto kTimeout = 200ms;
  constexpr std::uint64_t kThreads = 8;
  const auto quick = store(proxy_.address(), kTimeout);
  const auto other = store(server().address(), 5s);
  make_gate(quick, "gate");
  const std::uint64_t before = proxy_.connections();
  proxy_.set(Fault::hold_reply);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) EXPECT_THROW((void)quick.look("gate"), StoreError);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(other.look("gate").has_value());
  const auto trials =
      static_cast<std::uint64_t>((std::chrono::steady_clock::now() - start) / kTimeout);
  EXPECT_LE(proxy_.connections() - before, kThreads + trials + 1);
  proxy_.set(Fault::none);
  EXPECT_TRUE(when_it_answers([&] { return quick.look("gate"); }).has_value());
}

TEST_F(RedisConnection, WhereOneConnectionIsSilentTheIdleOnesAreNotTried) {
  const auto quick = redis::make_store(
      {.address = proxy_.address(), .prefix = unused_prefix(), .timeout = 500ms, .pool = 64});
  make_gate(quick, "gate");
  const std::uint64_t one = proxy_.connections();
  std::string other;  // A gate of another connection.
  for (int i = 0; proxy_.connections() == one; ++i) {
    other = "other" + std::to_string(i);
    make_gate(quick, other);
  }
  proxy_.set(Fault::hold_reply);
  const std::uint64_t before = proxy_.connections();
  (void)failure_of([&] { (void)quick.look("gate"); });
  proxy_.set(Fault::none);
  EXPECT_TRUE(when_it_answers([&] { return quick.look(other); }).has_value());
  EXPECT_GT(proxy_.connections(), before);
}

// Within the first pause, that is; a loaded machine may let it pass.
TEST_F(RedisConnection, ASilentServerFailsTheNextCallWithoutBeingAsked) {
  bool failed_at_once = false;
  for (int round = 0; round < 20 && !failed_at_once; ++round) {
    proxy_.set(Fault::none);
    const auto quick = store(proxy_.address(), 100ms);
    make_gate(quick, "gate");
    proxy_.set(Fault::hold_reply);
    const std::uint64_t before = proxy_.connections();
    const auto first = failure_of([&] { (void)quick.look("gate"); });
    const auto second = failure_of([&] { (void)quick.look("gate"); });
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->kind(), Kind::unavailable);
    EXPECT_EQ(second->kind(), Kind::unavailable);
    failed_at_once = proxy_.connections() == before;
  }
  EXPECT_TRUE(failed_at_once);
}

TEST_F(RedisConnection, WhatIsNotTriedAgainYetFailsAsBefore) {
  redis::Address address = server().address();
  address.path = server().folder() + "/nobody.sock";
  const auto stranger = store(address);
  const auto first = failure_of([&] { (void)stranger.look("gate"); });
  const auto second = failure_of([&] { (void)stranger.look("gate"); });
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->kind(), Kind::unavailable);
  EXPECT_EQ(second->kind(), Kind::unavailable);
  EXPECT_EQ(second->outcome(), Result::nothing_happened);
}

// A refusal is an answer: whoever is refused is told so again and again, by the server.
TEST_F(RedisConnection, AServerThatRefusesTheUserIsAskedEveryTime) {
  redis::Address address = proxy_.address();
  address.password = "wrong";
  address.user = "nobody";
  const auto stranger = store(address);
  const std::uint64_t before = proxy_.connections();
  for (int i = 0; i < 10; ++i) {
    const auto failure = failure_of([&] { (void)stranger.look("gate"); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->kind(), Kind::incompatible);
    EXPECT_THAT(failure->what(), ::testing::Not(::testing::HasSubstr("not tried")));
  }
  EXPECT_EQ(proxy_.connections(), before + 10);
}

TEST_F(RedisConnection, ALateReplyIsNeverReadByTheNext) {
  const auto quick =
      redis::make_store({.address = proxy_.address(), .prefix = unused_prefix(), .timeout = 500ms});
  make_gate(quick, "one");
  const std::uint64_t before = proxy_.connections();
  proxy_.set(Fault::hold_reply);
  (void)failure_of([&] { (void)quick.look("one"); });
  proxy_.set(Fault::none);
  EXPECT_FALSE(when_it_answers([&] { return quick.look("unknown"); }).has_value());
  EXPECT_EQ(proxy_.connections(), before + 1);
}

TEST_F(RedisConnection, GarbageIsAnError) {
  (void)store_.admit(asks("gate", VisitorId::random()));
  for (const Fault fault : {Fault::garbage, Fault::endless_array}) {
    proxy_.set(fault);
    const auto failure = failure_of([&] { (void)store_.look("gate"); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->kind(), Kind::incompatible) << failure->what();
    EXPECT_EQ(failure->outcome(), Result::unknown);
    EXPECT_THAT(failure->what(), ::testing::AllOf(::testing::HasSubstr(proxy_.address().text()),
                                                  ::testing::HasSubstr("check host and port")));
    proxy_.set(Fault::none);
    EXPECT_TRUE(store_.look("gate").has_value());
  }
}

TEST_F(RedisConnection, RepliesMayComeByteByByte) {
  proxy_.set(Fault::single_bytes);
  const Answer answer = store_.admit(asks("gate", VisitorId::random()));
  EXPECT_TRUE(std::holds_alternative<Granted>(answer));
  EXPECT_EQ(store_.look("gate")->holders.size(), 1U);
}

TEST_F(RedisConnection, AFlushedScriptCacheIsUnnoticed) {
  std::atomic<bool> done = false;
  std::thread flusher([&] {
    while (!done) {
      server().command({"SCRIPT", "FLUSH"});
      std::this_thread::sleep_for(10ms);
    }
  });
  const auto direct = store(server().address());
  for (int i = 0; i < 500; ++i) {
    const Answer answer = direct.admit(asks("gate", VisitorId::random()));
    ASSERT_TRUE(direct.release(std::get<Granted>(answer).token));
  }
  done = true;
  flusher.join();
}

TEST_F(RedisConnection, AServerThatDiedIsUsedAgainWhenItIsBack) {
  RedisServer own;
  const auto mortal = store(own.address(), 300ms);
  const Answer before = mortal.admit(asks("gate", VisitorId::random()));
  own.kill();
  const auto failure = failure_of([&] { (void)mortal.look("gate"); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::unavailable);
  own.start();
  const auto end = std::chrono::steady_clock::now() + 3s;
  for (;;) {
    try {
      EXPECT_FALSE(mortal.release(std::get<Granted>(before).token));
      break;
    } catch (const StoreError&) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(10ms);
    }
  }
  const Answer after = mortal.admit(asks("gate", VisitorId::random()));
  EXPECT_GT(std::get<Granted>(after).token.fence, std::get<Granted>(before).token.fence);
}

TEST_F(RedisConnection, AChildHasConnectionsOfItsOwn) {
  const auto shared = store(server().address());
  const Answer mine = shared.admit(asks("gate", VisitorId::random(), 2));
  const pid_t child = fork();
  if (child == 0) {
    bool good = true;
    for (int i = 0; i < 200; ++i) {
      const Answer answer = shared.admit(asks("gate", VisitorId::random(), 2));
      const auto* granted = std::get_if<Granted>(&answer);
      good = good && granted != nullptr && shared.release(granted->token);
    }
    _exit(good ? 0 : 1);
  }
  for (int i = 0; i < 200; ++i) EXPECT_EQ(shared.look("gate")->name, "gate");
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(shared.release(std::get<Granted>(mine).token));
}

TEST_F(RedisConnection, ThreadsShareABoundedPool) {
  const auto narrow = redis::make_store(
      {.address = proxy_.address(), .prefix = unused_prefix(), .timeout = 5s, .pool = 2});
  const std::uint64_t before = proxy_.connections();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        const Answer answer = narrow.admit(asks("gate", VisitorId::random(), 100));
        EXPECT_TRUE(narrow.release(std::get<Granted>(answer).token));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(proxy_.connections() - before, 2U);
}

// At any number of threads: its connections would arrive in any order.
TEST_F(RedisConnection, WhatConcernsAGateGoesByOneConnection) {
  const auto wide = redis::make_store(
      {.address = proxy_.address(), .prefix = unused_prefix(), .timeout = 5s, .pool = 64});
  make_gate(wide, "gate");
  const std::uint64_t before = proxy_.connections();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) (void)wide.admit(asks("gate", VisitorId::random()));
    });
  }
  threads.clear();
  EXPECT_EQ(proxy_.connections(), before);
}

TEST_F(RedisConnection, ThreadsShareOneConnectionUnlessToldOtherwise) {
  const auto usual = store(proxy_.address(), 5s);
  const std::uint64_t before = proxy_.connections();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&, gate = "gate" + std::to_string(i)] {
      for (int n = 0; n < 10; ++n) {
        const Answer answer = usual.admit(asks(gate, VisitorId::random()));
        EXPECT_TRUE(usual.release(std::get<Granted>(answer).token));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(proxy_.connections(), before + 1);
}

// --- being told ---

TEST_F(RedisConnection, WhoWaitsIsServedAlthoughItsSubscriptionIsKilledAgainAndAgain) {
  const auto direct = store(server().address(), 5s);
  const Airlock airlock(direct, "gate", {.limit = 1, .ttl = 5s});
  std::atomic<bool> done = false;
  std::thread killer([&] {
    while (!done) {
      server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
      std::this_thread::sleep_for(100ms);
    }
  });
  std::atomic<int> served = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) {
        Outcome<Lease> lease = airlock.try_enter_for(20s);
        if (!lease) continue;
        ++served;
        std::this_thread::sleep_for(5ms);
        lease->release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  killer.join();
  EXPECT_EQ(served, 40);
  EXPECT_EQ(direct.look("gate")->counts.waiting, 0U);
}

TEST_F(RedisConnection, AWaiterWhoseProcessIsGoneIsPassedOverAndKeepsItsPlace) {
  const std::string prefix = unused_prefix();
  const auto open = [&] {
    return redis::make_store({.address = server().address(), .prefix = prefix, .timeout = 5s});
  };
  const auto lasting = open();
  const Token ann = std::get<Granted>(lasting.admit(asks("gate", VisitorId::random()))).token;
  Request gone = asks("gate", VisitorId::random());
  gone.line.join = true;
  {
    const auto ending = open();
    ASSERT_TRUE(std::holds_alternative<Queued>(ending.admit(gone)));
    ASSERT_TRUE(ending.watch("gate", gone.visitor, [] {}));
  }
  Request next = asks("gate", VisitorId::random());
  next.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(lasting.admit(next)));
  const auto heard = [&] {
    return server().command({"PUBSUB", "CHANNELS", prefix + ":*"}).empty();
  };
  for (int i = 0; i < 500 && !heard(); ++i) std::this_thread::sleep_for(2ms);
  EXPECT_TRUE(lasting.release(ann));
  const auto view = lasting.look("gate");
  ASSERT_EQ(view->holders.size(), 1U);
  EXPECT_EQ(view->holders[0].visitor, next.visitor);
  ASSERT_EQ(view->line.size(), 1U);
  EXPECT_FALSE(view->line[0].present);
}

TEST_F(RedisConnection, WhoAsksAgainIsToldAsBeforeAndWatchesWithoutARoundTrip) {
  const Token ann = std::get<Granted>(store_.admit(asks("gate", VisitorId::random()))).token;
  Request bob = asks("gate", VisitorId::random());
  bob.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  ASSERT_TRUE(store_.watch("gate", bob.visitor, [] {}));
  bob.line.join = false;
  bob.line.returning = true;
  const std::uint64_t before = proxy_.requests();
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  std::atomic<int> calls = 0;
  ASSERT_TRUE(store_.watch("gate", bob.visitor, [&] { ++calls; }));
  EXPECT_EQ(proxy_.requests() - before, 1U);
  EXPECT_TRUE(store_.release(ann));
  redis::deliver_messages(store_);
  EXPECT_EQ(calls, 1);
}

TEST_F(RedisConnection, WhoseMessageIsLostAsksWhenItsTurnShouldHaveCome) {
  redis::Options options{.address = server().address(), .prefix = unused_prefix()};
  options.timeout = 5s;
  options.hears = [] { return false; };
  const auto deaf = redis::make_store(options);
  const Airlock airlock(deaf, "gate",
                        {.limit = 1, .ttl = 1min, .patience = 1min, .claim_window = 1min});
  Outcome<Lease> first = airlock.enter();
  ASSERT_TRUE(first);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    threads.emplace_back([&] {
      Outcome<Lease> lease = airlock.try_enter_for(1min);
      EXPECT_TRUE(lease);
      if (lease) lease->release();
    });
    while (deaf.look("gate")->counts.waiting != i) std::this_thread::sleep_for(1ms);
  }
  const auto start = std::chrono::steady_clock::now();
  first->release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST_F(RedisConnection, WhoMayNotSubscribeIsServedByAskingAgain) {
  server().command({"ACL", "SETUSER", "deaf", "reset", "on", ">deaf", "~*", "+@all", "-subscribe"});
  redis::Address address = server().address();
  address.user = address.password = "deaf";
  const auto deaf = store(address, 5s);
  const Airlock airlock(deaf, "gate", {.limit = 1});
  Outcome<Lease> first = airlock.enter();
  ASSERT_TRUE(first);
  std::thread releaser([&] {
    std::this_thread::sleep_for(50ms);
    first->release();
  });
  const auto start = std::chrono::steady_clock::now();
  const Outcome<Lease> second = airlock.try_enter_for(10s);
  EXPECT_TRUE(second);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
  releaser.join();
}

// --- time ---

class ServersClock : public ::testing::Test {
 protected:
  // Since the last CONFIG RESETSTAT.
  static int scripts_run() {
    constexpr std::string_view kField = "cmdstat_evalsha:calls=";
    const std::string stats = RedisServer::shared().command({"INFO", "commandstats"});
    const std::size_t at = stats.find(kField);
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + kField.size()));
  }

  Duration remaining() { return store_.look("gate")->holders.at(0).remaining; }

  AnyClock clock_;
  Store store_ = redis::make_store({.address = RedisServer::shared().address(),
                                    .prefix = unused_prefix(),
                                    .scripts = &stepped::scripts(),
                                    .stepped = &clock_});
};

TEST_F(ServersClock, SetBackNeitherFreezesNorStretchesALease) {
  const VisitorId ann = VisitorId::random();
  const Token token = std::get<Granted>(store_.admit(asks("gate", ann))).token;
  for (int i = 0; i < 5; ++i) {
    clock_.time = clock_.time.load() - 1h;
    EXPECT_EQ(remaining(), 30s - i * Duration(2s));
    clock_.time = clock_.time.load() + 2s;
    EXPECT_EQ(remaining(), 28s - i * Duration(2s));
  }
  EXPECT_EQ(store_.renew(token, 30s), Renewal::renewed);
  EXPECT_EQ(remaining(), 30s);
  clock_.time = clock_.time.load() + 30s;
  EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(asks("gate", VisitorId::random()))));
}

TEST_F(ServersClock, SetBackARenewalOfOneDoesNotStretchAnother) {
  (void)store_.admit(asks("gate", VisitorId::random(), 2));
  const Token bob = std::get<Granted>(store_.admit(asks("gate", VisitorId::random(), 2))).token;
  clock_.time = clock_.time.load() - 1h;
  EXPECT_EQ(store_.renew(bob, 1min), Renewal::renewed);
  clock_.time = clock_.time.load() + 30s;
  const auto view = store_.look("gate");
  ASSERT_EQ(view->holders.size(), 1U);
  EXPECT_EQ(view->holders[0].visitor, bob.visitor);
}

TEST_F(ServersClock, SetBackKeepsFencesGrowing) {
  Fence last = 0;
  for (int i = 0; i < 10; ++i) {
    const Token token = std::get<Granted>(store_.admit(asks("gate", VisitorId::random()))).token;
    EXPECT_GT(token.fence, last);
    last = token.fence;
    EXPECT_TRUE(store_.release(token));
    clock_.time = clock_.time.load() - 1h;
  }
}

TEST_F(ServersClock, CollectingEndsWhatHasRunOutWhereNobodyAsks) {
  (void)store_.admit(asks("gate", VisitorId::random()));
  Request bob = asks("gate", VisitorId::random());
  bob.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  std::atomic<int> calls = 0;
  ASSERT_TRUE(store_.watch("gate", bob.visitor, [&] { ++calls; }));
  clock_.time = clock_.time.load() + 30s;
  store_.collect();
  redis::deliver_messages(store_);
  EXPECT_EQ(calls, 1);
}

TEST_F(ServersClock, CollectingForgetsAnIdleGateButNotAPausedOne) {
  store_.pause("paused", 1h);
  const Token token = std::get<Granted>(store_.admit(asks("idle", VisitorId::random()))).token;
  EXPECT_TRUE(store_.release(token));
  clock_.time = clock_.time.load() + 9min;
  EXPECT_EQ(store_.list(), (std::vector<std::string>{"idle", "paused"}));
  clock_.time = clock_.time.load() + 2min;
  store_.collect();
  EXPECT_EQ(store_.list(), std::vector<std::string>{"paused"});
}

// --- much at once ---

TEST_F(ServersClock, ThousandsThatEndTogetherAreEndedBitByBit) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(
        std::holds_alternative<Granted>(store_.admit(asks("gate", VisitorId::random(), 1000))));
  }
  clock_.time = clock_.time.load() + 30s;
  RedisServer::shared().command({"CONFIG", "RESETSTAT"});
  ASSERT_TRUE(
      std::holds_alternative<Granted>(store_.admit(asks("gate", VisitorId::random(), 1000))));
  EXPECT_EQ(store_.look("gate")->counts.holders, 1U);
  EXPECT_GE(scripts_run(), 1000 / 12);
  EXPECT_EQ(store_.look("gate")->counters.expired, 1000U);
}

TEST_F(ServersClock, ARenewalGoesOnWithWhatItCouldNotEndAtOnce) {
  for (int i = 0; i < 40; ++i) (void)store_.admit(asks("gate", VisitorId::random(), 41));
  const Token ann = std::get<Granted>(store_.admit(asks("gate", VisitorId::random(), 41))).token;
  EXPECT_EQ(store_.renew(ann, 1h), Renewal::renewed);
  Request bob = asks("gate", VisitorId::random(), 41);
  bob.permits->weight = 40;
  bob.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  std::atomic<int> told = 0;
  ASSERT_TRUE(store_.watch("gate", bob.visitor, [&] { ++told; }));
  clock_.time = clock_.time.load() + 30s;
  EXPECT_EQ(store_.renew(ann, 1h), Renewal::renewed);
  redis::deliver_messages(store_);
  EXPECT_EQ(told, 1);
}

TEST_F(ServersClock, AHundredThatHaveEndedAreNotSeenAnyMore) {
  for (const GateName gate : {"looked", "counted"}) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(
          std::holds_alternative<Granted>(store_.admit(asks(gate, VisitorId::random(), 100))));
    }
  }
  clock_.time = clock_.time.load() + 30s;
  EXPECT_TRUE(store_.look("looked")->holders.empty());
  EXPECT_EQ(store_.counts(std::vector<GateName>{"counted"}).at(0).holders, 0U);
}

TEST_F(ServersClock, AHundredSlotsFreedTogetherAdmitAHundredWaiters) {
  Request ask = asks("gate", VisitorId::random(), 100);
  ask.permits->weight = 100;
  const Token token = std::get<Granted>(store_.admit(ask)).token;
  ask.permits->weight = 1;
  ask.line.join = true;
  std::atomic<int> told = 0;
  for (int i = 0; i < 100; ++i) {
    ask.visitor = VisitorId::random();
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(ask)));
    ASSERT_TRUE(store_.watch("gate", ask.visitor, [&] { ++told; }));
  }
  EXPECT_TRUE(store_.release(token));
  redis::deliver_messages(store_);
  EXPECT_EQ(told, 100);
  EXPECT_EQ(store_.look("gate")->counts.holders, 100U);
  EXPECT_EQ(store_.look("gate")->counts.waiting, 0U);
}

// --- keys ---

TEST(RedisKeys, AllEndByThemselvesExceptTheIdAndUnderAnOperatorsLimit) {
  RedisServer& server = RedisServer::shared();
  server.command({"FLUSHALL"});
  const auto store = open_store(server.uri());
  Request ask = asks("gate", VisitorId::random(), 2);
  std::vector<Token> tokens;
  for (int i = 0; i < 2; ++i) {
    ask.visitor = VisitorId::random();
    tokens.push_back(std::get<Granted>(store.admit(ask)).token);
  }
  EXPECT_TRUE(store.release(tokens[0]));
  EXPECT_TRUE(store.release(tokens[1]));
  for (int i = 0; i < 4; ++i) {
    ask.visitor = VisitorId::random();
    ask.line.join = true;
    (void)store.admit(ask);
  }
  Request revoked = asks("revoked", VisitorId::random(), 2);
  (void)store.admit(revoked);
  (void)store.admit(asks("revoked", VisitorId::random(), 2));
  EXPECT_EQ(store.revoke("revoked", revoked.visitor, Revoke::now), 1U);
  const Answer freed = store.admit(asks("freed", VisitorId::random(), 2));
  (void)store.admit(asks("freed", VisitorId::random(), 2));
  EXPECT_TRUE(store.release(std::get<Granted>(freed).token));
  (void)store.admit(asks("renewed", VisitorId::random(), 2));
  const Answer renewed = store.admit(asks("renewed", VisitorId::random(), 2));
  EXPECT_EQ(store.renew(std::get<Granted>(renewed).token, 24h), Renewal::renewed);
  EXPECT_GT(std::stol(server.command({"PTTL", "airlock:{renewed}:in"})), 24 * 3'600'000);
  store.set_limit("limited", 3);
  const Answer leaves = store.admit(asks("limited", VisitorId::random()));
  (void)store.admit(asks("limited", VisitorId::random()));
  EXPECT_TRUE(store.release(std::get<Granted>(leaves).token));
  store.pause("paused", 1min);
  std::istringstream keys(server.command({"KEYS", "*"}));
  const auto ttl_of = [&](const std::string& key) {
    return std::stol(server.command({"PTTL", key}));
  };
  std::vector<std::string> limited;
  std::size_t count = 0;
  for (std::string key; std::getline(keys, key); ++count) {
    if (key.starts_with("airlock:id:")) {
      EXPECT_EQ(ttl_of(key), -1) << key;
    } else if (key.starts_with("airlock:{limited}:")) {
      EXPECT_EQ(ttl_of(key), -1) << key;
      limited.push_back(key);
    } else {
      EXPECT_GT(ttl_of(key), 600'000) << key;
    }
  }
  EXPECT_GE(count, 12U);
  EXPECT_EQ(limited.size(), 3U);
  store.set_limit("limited", std::nullopt);
  for (const std::string& key : limited) EXPECT_GT(ttl_of(key), 600'000) << key;
}

}  // namespace
}  // namespace airlock
