#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/composite_seal.hpp"
#include "airlock/event_isolation.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/multi_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/cluster.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/child.hpp"

// When a scope ends, its permit is free for the process's next statement, although a destructor does
// not wait for the server.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::RedisServer;

struct Failed : std::runtime_error {
  Failed() : std::runtime_error("work failed") {}
};

class Scopes : public ::testing::Test {
 protected:
  static RedisServer& server() { return RedisServer::shared(); }
  [[nodiscard]] std::string uri() const { return server().uri() + "?prefix=" + prefix_; }

  // How often the server has found something to read, so far.
  static std::uint64_t reads() {
    return std::stoull(
        testing::value_of("total_reads_processed", server().command({"INFO", "stats"})));
  }

  const std::string prefix_ = testing::unused_prefix();
  const Store store_ = open_store(uri());
};

// In short threads: under the address sanitizer an exception leaves frames in use on the fake stack
// of its thread, and once that is full every later call searches all of it.
TEST_F(Scopes, ThrowingCallsAreNeverRefused) {
  const Bulkhead bulkhead(store_, "erp", {.limit = 1});
  for (int i = 0; i < 100; ++i) {
    std::jthread([&] {
      for (int n = 0; n < 100; ++n) {
        ASSERT_THROW(bulkhead.call([] { throw Failed(); }), Failed) << "call " << n;
      }
    }).join();
    ASSERT_FALSE(HasFailure()) << "thread " << i;
  }
}

// The release goes out together with the next question.
TEST_F(Scopes, LeasesThatEndAreFreeAtOnceAndCostNoRoundTrip) {
  const Bulkhead bulkhead(store_, "erp", {.limit = 1});
  constexpr int kTimes = 10'000;
  (void)bulkhead.acquire();
  const std::uint64_t before = reads();
  for (int i = 0; i < kTimes; ++i) {
    const Outcome<Lease> lease = bulkhead.try_acquire();
    ASSERT_TRUE(lease) << "lease " << i;
  }
  const std::uint64_t round_trips = reads() - before;
  std::printf("%llu reads of the server for %d leases\n",
              static_cast<unsigned long long>(round_trips), kTimes);
  EXPECT_LT(round_trips, 2 * kTimes + 100);
}

TEST_F(Scopes, ALockThatEndedByScopeIsFreeForOneWhoDoesNotWait) {
  const EventIsolation isolation(store_, {.max_wait = 0s});
  for (int i = 0; i < 500; ++i) {
    EXPECT_NO_THROW((void)isolation.lock({.chat = 1, .user = 2})) << "lock " << i;
  }
}

// Each thread has one at most, so there is always room for its next.
TEST_F(Scopes, ThreadsAreNotRefusedForWhatOthersJustGaveBack) {
  constexpr std::uint32_t kThreads = 8;
  const Bulkhead bulkhead(store_, "erp", {.limit = kThreads});
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 500; ++n) {
          if (!bulkhead.try_acquire()) ++refused;
        }
      });
    }
  }
  EXPECT_EQ(refused, 0);
}

TEST_F(Scopes, EverythingElseAtTheGateComesAfterTheRelease) {
  const Bulkhead bulkhead(store_, "group/a", {.limit = 1});
  const Bulkhead other(store_, "group/b", {.limit = 1});
  const SemaphoreSeal one(store_, "group/a", {.limit = 1});
  const SemaphoreSeal two(store_, "group/b", {.limit = 1});
  const CompositeSeal composite(one, {Rate::parse("100000/s")});
  const GroupSeal group({one, two});
  for (int i = 0; i < 200; ++i) {
    (void)bulkhead.acquire();
    ASSERT_EQ(bulkhead.available_slots(), 1U) << i;
    (void)bulkhead.acquire();
    ASSERT_EQ(store_.look("group/a")->counts.holders, 0U) << i;
    (void)bulkhead.acquire();
    const Outcome<Admission> sealed = one.try_acquire();
    ASSERT_TRUE(sealed) << i;
    one.release(sealed->token);
    (void)bulkhead.acquire();
    const Outcome<Admission> composed = composite.try_acquire();
    ASSERT_TRUE(composed) << i;
    composite.release(composed->token);
    (void)bulkhead.acquire();
    (void)other.acquire();
    const Outcome<Admissions> both = group.try_acquire();
    ASSERT_TRUE(both) << i;
    group.release(*both);
  }
}

// The script of the release is not there when that of the question is.
TEST_F(Scopes, AScriptThatTheServerForgotChangesNothing) {
  const Bulkhead bulkhead(store_, "erp", {.limit = 1});
  const auto others = open_store(uri());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(bulkhead.try_acquire()) << i;
    server().command({"SCRIPT", "FLUSH"});
    (void)Bulkhead(others, "loads-the-question-only", {.limit = 1'000}).acquire().detach();
  }
}

TEST_F(Scopes, AChildDoesNotKeepItsParentOut) {
  const Bulkhead bulkhead(store_, "erp", {.limit = 1});
  for (int i = 0; i < 20; ++i) {
    (void)bulkhead.acquire();
    Child child([&] { (void)store_.look("erp"); });
    ASSERT_TRUE(bulkhead.try_acquire()) << i;
    EXPECT_TRUE(child.wait());
  }
}

TEST_F(Scopes, WhoeverOpensTheStoreAfterItsEndFindsEverythingFree) {
  for (int i = 0; i < 50; ++i) {
    Store store = open_store(uri());
    (void)Bulkhead(store, "erp", {.limit = 1}).acquire();
    store = {};
    ASSERT_EQ(store_.look("erp")->counts.holders, 0U) << i;
  }
}

// Replies are lost and connections cut: asks may fail, but none is refused.
TEST_F(Scopes, NobodyIsRefusedWhereConnectionsAreCut) {
  testing::ChaosProxy proxy(server().socket(), server().folder());
  const auto store =
      redis::make_store({.address = proxy.address(), .prefix = prefix_, .timeout = 200ms});
  const Bulkhead bulkhead(store, "erp", {.limit = 1});
  proxy.set(testing::ChaosProxy::Fault::lose_reply, 5);
  int entered = 0;
  int failed = 0;
  for (int i = 0; entered < 1'000; ++i) {
    if (i % 50 == 0) proxy.cut_all();
    try {
      ASSERT_TRUE(bulkhead.try_acquire()) << "attempt " << i;
      ++entered;
    } catch (const SealAcquiringError&) {
      ++failed;
    }
  }
  std::printf("%d entered, %d not decided\n", entered, failed);
  EXPECT_GT(proxy.faults(), 0U);
}

// A slot goes from server to server while its gate is used.
TEST(ScopesOfACluster, NobodyIsRefusedWhileTheSlotMoves) {
  testing::RedisCluster cluster;
  const auto store = open_store(cluster.uri("timeout=5s"));
  const Bulkhead bulkhead(store, "erp", {.limit = 1});
  (void)bulkhead.acquire();
  const testing::RedisCluster::Slot slot = cluster.slot_of("erp");
  const std::vector<std::size_t> primaries = cluster.primaries();
  std::atomic<std::size_t> moves = 0;
  std::jthread mover([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      cluster.move_slot(slot, primaries[++moves % primaries.size()]);
    }
  });
  int entered = 0;
  for (; entered < 300 || moves < 30; ++entered) {
    const Outcome<Lease> lease = bulkhead.try_acquire();
    EXPECT_TRUE(lease) << "lease " << entered;
    if (!lease) break;
  }
  mover.request_stop();
  mover.join();
  std::printf("%d entered during %zu moves\n", entered, moves.load());
}

}  // namespace
}  // namespace airlock
