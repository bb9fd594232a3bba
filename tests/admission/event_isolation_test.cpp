#include "airlock/event_isolation.hpp"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "admission/support/log.hpp"
#include "admission/support/waiting_test.hpp"
#include "airlock/error.hpp"
#include "airlock/store.hpp"

namespace airlock {
namespace {

constexpr StorageKey key(std::int64_t user) { return {.bot = 1, .chat = 2, .user = user}; }

class EventIsolationTest : public WaitingTest {};

TEST_P(EventIsolationTest, OneHandlerPerKeyAtATime) {
  const EventIsolation isolation(store_, {.max_wait = 0s});
  const Lease lease = isolation.lock(key(1));
  EXPECT_TRUE(lease);
  EXPECT_TRUE(isolation.lock(key(2)));
  try {
    (void)isolation.lock(key(1));
    FAIL() << "it was held";
  } catch (const EventIsolationTimeout& error) {
    EXPECT_STREQ(error.what(), "key \"fsm:2:1\" was not free within 0s");
  }
}

TEST_P(EventIsolationTest, WaitsTwiceTheTtlByDefault) {
  const EventIsolation isolation(store_, {.ttl = 5s});
  const Lease lease = isolation.lock(key(1));
  std::atomic<bool> timed_out = false;
  std::jthread waiter([&] {
    try {
      (void)isolation.lock(key(1));
    } catch (const EventIsolationTimeout&) {
      timed_out = true;
    }
  });
  const GateName gate = gate_name("events", "fsm:2:1");
  ASSERT_TRUE(eventually([&] { return waiting(gate) == 1; }));
  pass(10s - 200ms, 2);  // airlock-keep and the waiter
  EXPECT_FALSE(timed_out);
  clock_.advance(200ms);
  EXPECT_TRUE(eventually([&] { return timed_out.load(); }));
  EXPECT_TRUE(lease.valid()) << "the keeper renews it while the handler runs";
}

TEST_P(EventIsolationTest, OnePollerAndEightWorkersKeepTheOrderOfArrival) {
  constexpr int kKeys = 5;
  constexpr int kEvents = 400;
  const EventIsolation isolation(store_, {.max_wait = 1h});
  struct Job {
    EventIsolation::Turn turn;
    int user;
    int number;
  };
  std::vector<Job> jobs;
  for (int i = 0; i < kEvents; ++i) {
    jobs.push_back({isolation.join(key(i % kKeys)), i % kKeys, i});  // The poller.
  }
  std::array<int, kKeys> last{};
  last.fill(-1);
  std::atomic<int> inversions = 0;
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 8; ++i) {
      workers.emplace_back([&] {
        for (std::size_t at = next++; at < jobs.size(); at = next++) {
          const Lease lease = jobs[at].turn.wait();
          int& seen = last.at(static_cast<std::size_t>(jobs[at].user));
          if (jobs[at].number < seen) ++inversions;
          seen = jobs[at].number;
        }
      });
    }
  }
  EXPECT_EQ(inversions, 0);
}

TEST_P(EventIsolationTest, AHungHandlerLosesItsKey) {
  const EventIsolation isolation(store_, {.ttl = 5s, .max_hold = 8s});
  const Lease hung = isolation.lock(key(1));
  pass(8s);
  EXPECT_FALSE(hung.valid());
  EXPECT_TRUE(isolation.lock(key(1)));
}

TEST_P(EventIsolationTest, TheObserverHearsOfEachKey) {
  const auto log = std::make_shared<Log>();
  const EventIsolation isolation(store_, {.max_wait = 0s, .observer = log});
  const Lease lease = isolation.lock(key(1));
  EXPECT_THROW((void)isolation.lock(key(1)), EventIsolationTimeout);
  EXPECT_THAT(log->kinds(), ::testing::ElementsAre(Event::Kind::granted, Event::Kind::refused));
  EXPECT_EQ(log->last().gate, gate_name("events", "fsm:2:1").text());
}

TEST_P(EventIsolationTest, WithTheStoreDownThePolicyDecides) {
  const EventIsolation closed(store_);
  const EventIsolation local(store_, {.outage = Outage::local});
  store_.down(true);
  EXPECT_THROW((void)closed.lock(key(1)), SealAcquiringError);
  const Lease lease = local.lock(key(1));
  EXPECT_FALSE(lease.guarded());
  EXPECT_TRUE(local.lock(key(2)));
  EXPECT_THROW((void)local.lock(key(1)), EventIsolationTimeout) << "isolated in this process";
}

TEST_P(EventIsolationTest, ReleaseIsIdempotentAndCloseSendsNothing) {
  const EventIsolation isolation(store_);
  Lease lease = isolation.lock(key(1));
  lease.release();
  lease.release();
  EXPECT_EQ(store_.calls("release"), 1U);
  const std::size_t before = store_.calls();
  isolation.close();
  EXPECT_EQ(store_.calls(), before);
  EXPECT_TRUE(isolation.lock(key(1))) << "usable after close";
}

TEST_P(EventIsolationTest, AForeignTokenFreesNothing) {
  const EventIsolation isolation(store_, {.max_wait = 0s});
  const Lease lease = isolation.lock(key(1));
  Token foreign = lease.token();
  ++foreign.fence;
  EXPECT_FALSE(store_.release(foreign));
  EXPECT_THROW((void)isolation.lock(key(1)), EventIsolationTimeout);
}

// The seed's issue 1317: state is read under the lock, so each handler sees what the last one wrote.
TEST_P(EventIsolationTest, FourUpdatesOfOneChatSeeEachOthersState) {
  const EventIsolation isolation(store_);
  const std::vector<std::string> steps = {"command", "foo", "bar", "all"};
  std::vector<EventIsolation::Turn> turns;
  for (std::size_t i = 0; i < steps.size(); ++i) turns.push_back(isolation.join(key(1)));
  std::string state;
  {
    std::vector<std::jthread> handlers;
    for (std::size_t i = steps.size(); i-- > 0;) {
      handlers.emplace_back([&, i] {
        const Lease lease = turns[i].wait();
        const std::string loaded = state;
        std::this_thread::yield();
        state = loaded + ">" + steps[i];
      });
    }
  }
  EXPECT_EQ(state, ">command>foo>bar>all");
}

TEST_P(EventIsolationTest, EveryPartThatCountsIsolates) {
  const KeyBuilder keys{.with_bot = true, .with_business_connection = true, .with_destiny = true};
  const EventIsolation isolation(store_, {.max_wait = 0s, .key_builder = keys});
  StorageKey base = key(1);
  std::vector<StorageKey> others(6, base);
  others[0].bot = 7;
  others[1].chat = 7;
  others[2].user = 7;
  others[3].thread = 7;
  others[4].business_connection = "7";
  others[5].destiny = "7";
  const Lease lease = isolation.lock(base);
  for (const StorageKey& other : others) EXPECT_TRUE(isolation.lock(other));
}

TEST_P(EventIsolationTest, TheKeyHasTheSeedsPartsInTheSeedsOrder) {
  StorageKey full{.bot = 1, .chat = 2, .user = 3, .thread = 4, .business_connection = "5"};
  full.destiny = "6";
  const auto built = [&](bool bot, bool business, bool destiny) {
    return KeyBuilder{
        .with_bot = bot, .with_business_connection = business, .with_destiny = destiny}(full);
  };
  EXPECT_EQ(built(false, false, false), "fsm:2:t4:3:d6");
  EXPECT_EQ(built(false, false, true), "fsm:2:t4:3:d6");
  EXPECT_EQ(built(false, true, false), "fsm:c5:2:t4:3:d6");
  EXPECT_EQ(built(false, true, true), "fsm:c5:2:t4:3:d6");
  EXPECT_EQ(built(true, false, false), "fsm:b1:2:t4:3:d6");
  EXPECT_EQ(built(true, false, true), "fsm:b1:2:t4:3:d6");
  EXPECT_EQ(built(true, true, false), "fsm:b1:c5:2:t4:3:d6");
  EXPECT_EQ(built(true, true, true), "fsm:b1:c5:2:t4:3:d6");
  EXPECT_EQ((KeyBuilder{.prefix = "bot", .separator = "/", .with_destiny = true}(key(3))),
            "bot/2/3/ddefault");
  EXPECT_THROW(EventIsolation(store_, {.key_builder = KeyBuilder{.separator = ""}}),
               InvalidArgument);
  EXPECT_THROW(EventIsolation(store_, {.max_wait = -1s}), InvalidArgument);
}

TEST_P(EventIsolationTest, DisabledNeverWaits) {
  const EventIsolation isolation;
  EXPECT_FALSE(isolation.is_enabled());
  EXPECT_FALSE(isolation.lock(key(1)));
  EXPECT_FALSE(isolation.join(key(1)).wait());
}

TEST_P(EventIsolationTest, IdleKeysCostNothing) {
  const EventIsolation isolation(store_);
  for (int user = 0; user < 1'000; ++user) (void)isolation.lock(key(user));
  ASSERT_TRUE(store_.flush(1min));
  clock_.advance(11min);
  store_.collect();
  EXPECT_TRUE(store_.list().empty());
}

TEST_P(EventIsolationTest, KeysThatDifferInWhatCountsReadDifferently) {
  std::vector<StorageKey> keys;
  for (const std::int64_t thread : {-1, 0, 1, 2}) {
    for (const char* destiny : {"default", "a", "a:b", "t1", "", "%3a"}) {
      for (const char* business : {"", "x", "x:2", "2"}) {
        StorageKey one{.bot = 1, .chat = 2, .user = 1, .destiny = destiny};
        if (thread >= 0) one.thread = thread;
        if (*business != '\0') one.business_connection = business;
        keys.push_back(one);
      }
    }
  }
  const KeyBuilder all{.with_bot = true, .with_business_connection = true, .with_destiny = true};
  std::set<std::string> texts;
  for (const StorageKey& one : keys) texts.insert(all(one));
  EXPECT_EQ(texts.size(), keys.size());
}

TEST_P(EventIsolationTest, TheDefaultsAreTheSeeds) {
  const KeyBuilder builder;
  StorageKey one = key(3);
  EXPECT_EQ(builder(one), "fsm:2:3");
  EXPECT_EQ(builder(one.with_destiny("other")), "fsm:2:3:dother");
  one.business_connection = "b";
  EXPECT_EQ(builder(one), "fsm:2:3");
  one.bot = 9;
  EXPECT_EQ(builder(one), "fsm:2:3");
  one.thread = 0;
  EXPECT_NE(builder(one), "fsm:2:3") << "a thread 0 is a thread";
}

AIRLOCK_WAITING_SUITE(EventIsolationTest);

}  // namespace
}  // namespace airlock
