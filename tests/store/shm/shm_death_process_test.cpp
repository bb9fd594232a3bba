#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/testing.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/cpu_wait.hpp"
#include "store/support/descriptors.hpp"
#include "store/support/stopping_clock.hpp"
#include "store/support/temp_dir.hpp"

// What a process leaves when it dies: nothing that is bound to it, whatever it was doing.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using SteadyClock = std::chrono::steady_clock;

Request ask(std::string_view name, std::uint32_t limit = 1) {
  return {.gate = "gate",
          .visitor = VisitorId::named(name),
          .label = name,
          .permits = Permits{.limit = limit, .ttl = 1h}};
}
Request wait_for(std::string_view name, std::uint32_t limit = 1) {
  Request request = ask(name, limit);
  request.line.join = true;
  request.line.patience = 1h;
  return request;
}

class ShmDeath : public ::testing::Test {
 protected:
  [[nodiscard]] Store open(Duration timeout = 1s) const {
    return shm::make_store({.dir = dir_.path(), .timeout = timeout}, Clock::system());
  }
  [[nodiscard]] bool enters(const Request& request) {
    return std::holds_alternative<Granted>(store_.admit(request));
  }
  // A process that holds and does nothing else.
  [[nodiscard]] Child holder(const Request& request) {
    SharedValue<std::atomic<bool>> in;
    Child child([&] {
      const auto store = open();
      *in = std::holds_alternative<Granted>(store.admit(request));
      pause();
    });
    EXPECT_TRUE(becomes_true([&] { return in->load(); }));
    return child;
  }
  [[nodiscard]] Child waiter(const Request& request) {
    SharedValue<std::atomic<bool>> queued;
    Child child([&] {
      const auto store = open();
      *queued = std::holds_alternative<Queued>(store.admit(request));
      pause();
    });
    EXPECT_TRUE(becomes_true([&] { return queued->load(); }));
    return child;
  }
  // Stopped in the middle of a step of the gate.
  [[nodiscard]] Child stopped_in_step() {
    Child child([&] {
      StoppingClock clock;
      const auto store = shm::make_store({.dir = dir_.path()}, clock);
      (void)store.admit(ask("first", 9));
      clock.stop_at_next_step();
      (void)store.admit(ask("second", 9));
    });
    child.wait_until_stopped();
    return child;
  }
  [[nodiscard]] std::vector<std::string> holders() {
    std::vector<std::string> names;
    const auto view = store_.look("gate");
    for (const auto& holder : view->holders) names.push_back(holder.label);
    return names;
  }

  void expect_hand_over_by_the_owner_of_the_lock(std::uint32_t own);

  const Descriptors inherited_ = inheritable_descriptors();  // Before there is a store.
  TempDir dir_;
  Store store_ = open();
};

TEST_F(ShmDeath, TheSlotOfAKilledHolderIsFreeAtOnce) {
  Child child = holder(ask("ann"));
  EXPECT_FALSE(enters(ask("bob")));
  child.kill_and_wait();
  EXPECT_TRUE(becomes_true([&] { return enters(ask("bob")); }, 1s));
  EXPECT_THAT(holders(), ElementsAre("bob"));
  EXPECT_EQ(store_.look("gate")->counters.died, 1U);
}

TEST_F(ShmDeath, WhoLooksDoesNotSeeTheDead) {
  Child child = holder(ask("ann"));
  EXPECT_THAT(holders(), ElementsAre("ann"));
  child.kill_and_wait();
  EXPECT_TRUE(becomes_true([&] { return holders().empty(); }, 1s)) << "although nobody asks";
}

TEST_F(ShmDeath, AZombieIsDead) {
  Child child = holder(ask("ann"));
  child.kill();
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(::kill(child.pid(), 0), 0);
  EXPECT_TRUE(becomes_true([&] { return enters(ask("bob")); }, 1s));
}

TEST_F(ShmDeath, AStoppedHolderIsAlive) {
  Child child = holder(ask("ann"));
  child.signal(SIGSTOP);
  child.wait_until_stopped();
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(enters(ask("bob")));
  child.signal(SIGCONT);
}

TEST_F(ShmDeath, WhatIsDetachedOutlivesItsProcess) {
  Request request = ask("ann");
  request.hold = Hold::detached;
  holder(request).kill_and_wait();
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(enters(ask("bob")));
  EXPECT_THAT(holders(), ElementsAre("ann"));
}

TEST_F(ShmDeath, AProcessThatEndsCleanlyLeavesNothing) {
  Child child([&] { (void)open().admit(ask("ann")); });
  EXPECT_TRUE(child.wait());
  EXPECT_EQ(store_.look("gate")->counts.in_use, 0U) << "also for one who only looks";
  EXPECT_TRUE(enters(ask("bob")));
}

// Law 4, and the aim: within 50 ms at the 99th of 100.
TEST_F(ShmDeath, TheNextInLineIsInWithin50MillisecondsOfTheDeathOfAHolder) {
  std::vector<Duration> times;
  constexpr std::size_t kTimes = 100;
  SharedValue<std::atomic<std::int64_t>> entered;
  for (std::size_t i = 0; i < kTimes; ++i) {
    Child dying = holder(ask("ann"));
    *entered = 0;
    Child child([&] {
      Airlock airlock(open(), "gate", {.limit = 1, .ttl = 1h, .max_wait = 1h});
      const auto lease = airlock.enter();
      *entered = SteadyClock::now().time_since_epoch().count();
    });
    ASSERT_TRUE(becomes_true([&] { return store_.look("gate")->counts.waiting == 1; }));
    const auto killed = SteadyClock::now().time_since_epoch().count();
    dying.kill();
    ASSERT_TRUE(becomes_true([&] { return entered->load() != 0; }));
    times.emplace_back((entered->load() - killed) / 1000);
    ASSERT_TRUE(child.wait());
  }
  std::ranges::sort(times);
  std::printf("death of a holder to the next one in: median %s, 99th %s, worst %s\n",
              to_text(times[kTimes / 2]).c_str(), to_text(times[kTimes * 99 / 100 - 1]).c_str(),
              to_text(times.back()).c_str());
  EXPECT_LE(times[kTimes * 99 / 100 - 1], 250ms);  // 50 ms where nothing else runs.
}

// It does not know that it is: when it asked, it was the second.
TEST_F(ShmDeath, WhoBecameTheHeadOfTheLineIsInSoonAfterTheDeathOfAHolder) {
  const Token ann = std::get<Granted>(store_.admit(ask("ann"))).token;
  SharedValue<std::array<std::atomic<bool>, 2>> entered;
  std::array<Child, 2> line;
  for (std::uint32_t i = 0; i < line.size(); ++i) {
    line.at(i) = Child([&] {
      const auto lease = Airlock(open(), "gate", {.limit = 1, .ttl = 1h, .max_wait = 1h}).enter();
      entered->at(i) = true;
      pause();
    });
    ASSERT_TRUE(becomes_true([&] { return store_.look("gate")->counts.waiting == i + 1; }));
  }
  ASSERT_TRUE(store_.release(ann));
  ASSERT_TRUE(becomes_true([&] { return entered->at(0).load(); }));
  line.at(0).kill();
  EXPECT_TRUE(becomes_true([&] { return entered->at(1).load(); }, 250ms));
}

TEST_F(ShmDeath, AKilledWaiterIsPassedOverAndTheOthersKeepTheirOrder) {
  const Token ann = std::get<Granted>(store_.admit(ask("ann"))).token;
  Child bob = waiter(wait_for("bob"));
  Child cid = waiter(wait_for("cid"));
  Child dan = waiter(wait_for("dan"));
  bob.kill_and_wait();
  EXPECT_TRUE(becomes_true([&] { return store_.release(ann); }, 1s));
  EXPECT_THAT(holders(), ElementsAre("cid"));
  cid.kill_and_wait();
  EXPECT_TRUE(becomes_true(
      [&] { return enters(wait_for("eve")) || holders() == std::vector<std::string>{"dan"}; }, 1s));
  EXPECT_THAT(holders(), ElementsAre("dan"));
}

TEST_F(ShmDeath, TheLockOfAKilledOwnerIsTakenAndWhatItLeftIsRepaired) {
  Child child = stopped_in_step();
  child.kill_and_wait();
  const auto began = SteadyClock::now();
  const auto without_cpu = testing::cpu_wait();
  EXPECT_TRUE(enters(ask("bob")));
  EXPECT_LT(SteadyClock::now() - began - (testing::cpu_wait() - without_cpu), 250ms);
  EXPECT_THAT(holders(), ElementsAre("bob"));
}

TEST_F(ShmDeath, AStoppedOwnerOfTheLockMakesTheStoreBusyAndNoMore) {
  const auto patient = open();
  const auto other = open(100ms);
  const Token ann = std::get<Granted>(other.admit(ask("ann", 9))).token;
  Child child = stopped_in_step();
  const auto began = SteadyClock::now();
  const auto without_cpu = testing::cpu_wait();
  try {
    (void)other.admit(ask("bob"));
    ADD_FAILURE() << "the shard is locked";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::busy);
    EXPECT_EQ(error.outcome(), StoreError::Outcome::nothing_happened);
  }
  EXPECT_LT(SteadyClock::now() - began - (testing::cpu_wait() - without_cpu), 150ms + 100ms);
  EXPECT_TRUE(other.release(ann)) << "giving back needs no lock";
  child.signal(SIGCONT);
  EXPECT_TRUE(child.wait());
  EXPECT_EQ(store_.look("gate")->counts.in_use, 0U);
  EXPECT_FALSE(other.release(ann));
}

// More than there are places to note them at.
TEST_F(ShmDeath, HoweverManyAreGivenBackWhileTheLockIsHeldNoneIsForgotten) {
  std::vector<Token> tokens;
  for (int i = 0; i < 40; ++i) {
    tokens.push_back(std::get<Granted>(store_.admit(ask(std::to_string(i), 99))).token);
  }
  Child child = stopped_in_step();
  for (const Token& token : tokens) EXPECT_TRUE(store_.release(token));
  child.signal(SIGCONT);
  EXPECT_TRUE(child.wait());
  EXPECT_EQ(store_.look("gate")->counts.in_use, 0U);
}

// The owner of the lock is in the middle of its step, nearly always, and nobody else comes. It holds
// `own` of the slots; to look at all of them takes a while.
void ShmDeath::expect_hand_over_by_the_owner_of_the_lock(std::uint32_t own) {
  constexpr std::uint32_t kMany = 5'000;
  std::vector<Token> tokens;
  for (std::uint32_t i = own; i < kMany; ++i) {
    tokens.push_back(std::get<Granted>(store_.admit(ask(std::to_string(i), kMany))).token);
  }
  SharedValue<std::atomic<int>> looks;
  SharedValue<std::atomic<bool>> goes_on;
  Child owner([&] {
    const auto store = open();
    for (std::uint32_t i = 0; i < own; ++i) (void)store.admit(ask(std::to_string(i), kMany));
    for (;; ++*looks) {
      (void)store.look("gate");
      while (*looks != 0 && !*goes_on) std::this_thread::sleep_for(100us);
    }
  });
  ASSERT_TRUE(becomes_true([&] { return *looks != 0; }));
  for (std::size_t i = 0; i < 10; ++i) {
    const std::string name = "next " + std::to_string(i);
    ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(wait_for(name, kMany))));
    std::atomic<bool> told = false;
    ASSERT_TRUE(store_.watch("gate", VisitorId::named(name), [&] { told = true; }));
    const int before = *looks;
    *goes_on = true;
    ASSERT_TRUE(becomes_true([&] { return *looks > before + 1; }));
    owner.signal(SIGSTOP);
    owner.wait_until_stopped();
    EXPECT_TRUE(store_.release(tokens[i]));
    *goes_on = false;
    owner.signal(SIGCONT);
    EXPECT_TRUE(becomes_true([&] { return told.load(); }, 1s)) << "round " << i;
    store_.unwatch("gate", VisitorId::named(name));
    ASSERT_TRUE(enters(wait_for(name, kMany)));
  }
}

TEST_F(ShmDeath, WhatIsGivenBackWhileTheLockIsHeldIsHandedOverByItsOwner) {
  expect_hand_over_by_the_owner_of_the_lock(4'900);
}

// Its steps end another way: they look whether the holders, who are of another process, are alive.
TEST_F(ShmDeath, WhatIsGivenBackWhileTheLockIsHeldIsHandedOverByAnOwnerThatSuspectsTheHolders) {
  expect_hand_over_by_the_owner_of_the_lock(0);
}

TEST_F(ShmDeath, AForkedChildKeepsNothingOfItsParentAlive) {
  SharedValue<std::atomic<pid_t>> grandchild;
  SharedValue<std::atomic<bool>> in;
  Child parent([&] {
    const auto store = open();
    *in = std::holds_alternative<Granted>(store.admit(ask("ann")));
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(100);
      pause();
    }
    *grandchild = pid;
    pause();
  });
  ASSERT_TRUE(becomes_true([&] { return grandchild->load() != 0; }));
  EXPECT_TRUE(in->load());
  parent.kill_and_wait();
  EXPECT_TRUE(becomes_true([&] { return enters(ask("bob")); }, 1s));
  EXPECT_EQ(::kill(*grandchild, SIGKILL), 0) << "it lived all the time";
}

TEST_F(ShmDeath, AForkedChildUsesTheStoreAsAnotherProcess) {
  const Token ann = std::get<Granted>(store_.admit(ask("ann", 2))).token;
  SharedValue<std::atomic<bool>> in;
  Child child([&] {
    *in = std::holds_alternative<Granted>(store_.admit(ask("bob", 2)));
    pause();
  });
  ASSERT_TRUE(becomes_true([&] { return in->load(); }));
  EXPECT_FALSE(enters(ask("cid", 2)));
  child.kill_and_wait();
  EXPECT_TRUE(becomes_true([&] { return enters(ask("cid", 2)); }, 1s));
  EXPECT_TRUE(store_.release(ann)) << "the parent's own is untouched";
}

TEST_F(ShmDeath, ExecEndsWhatIsBoundAndLeaksNoDescriptor) {
  SharedValue<std::atomic<bool>> in;
  SharedValue<std::atomic<bool>> go;
  Child child([&] {
    const auto store = open();
    *in = std::holds_alternative<Granted>(store.admit(ask("ann")));
    while (!*go) usleep(100);
    execlp("sleep", "sleep", "100", nullptr);
  });
  ASSERT_TRUE(becomes_true([&] { return in->load(); }));
  EXPECT_FALSE(enters(ask("bob")));
  *go = true;
  EXPECT_TRUE(becomes_true([&] { return enters(ask("bob")); }));
  // A program gets its name after descriptors are closed.
  ASSERT_TRUE(becomes_true([&] { return name_of_process(child.pid()) == "sleep"; }));
  EXPECT_EQ(descriptors_of(child.pid()), inherited_);
}

TEST_F(ShmDeath, SixtyProcessesThatBeginTogetherAreNeverMoreThanThree) {
  constexpr std::uint32_t kProcesses = 60;
  struct Barrier {
    std::atomic<std::uint32_t> ready, inside, peak;
    std::atomic<bool> go;
  };
  SharedValue<Barrier> barrier;
  std::vector<Child> children;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    children.emplace_back([&] {
      Airlock airlock(open(10s), "gate", {.limit = 3, .ttl = 1h, .max_wait = 1h});
      ++barrier->ready;
      while (!barrier->go) usleep(100);
      const auto lease = airlock.enter();
      const std::uint32_t inside = ++barrier->inside;
      std::uint32_t peak = barrier->peak;
      while (peak < inside && !barrier->peak.compare_exchange_weak(peak, inside)) {
      }
      usleep(1000);
      --barrier->inside;
    });
  }
  ASSERT_TRUE(becomes_true([&] { return barrier->ready == kProcesses; }, 60s));
  barrier->go = true;
  for (Child& child : children) EXPECT_TRUE(child.wait());
  EXPECT_GE(barrier->peak, 1U);
  EXPECT_LE(barrier->peak, 3U);
  EXPECT_EQ(store_.look("gate")->counts.in_use, 0U);
}

}  // namespace
}  // namespace airlock
