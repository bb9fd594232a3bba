#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "airlock/store.hpp"
#include "store/shm/layout.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/failing_call.hpp"
#include "store/support/temp_dir.hpp"

// What other processes cost: an ask looks only at those whose death would make room for it.

namespace airlock {
namespace {

using namespace std::chrono_literals;

class ShmManyProcesses : public ::testing::Test {
 protected:
  [[nodiscard]] Store open() const {
    return shm::make_store({.dir = dir_.path()}, Clock::system());
  }
  [[nodiscard]] static Answer ask(const Store& store, std::string_view gate, bool join = false) {
    return store.admit({.gate = gate,
                        .visitor = VisitorId::random(),
                        .permits = Permits{.limit = 1, .ttl = 1h},
                        .line = {.join = join, .patience = 1h}});
  }
  // A process that has asked at a gate and does nothing else.
  [[nodiscard]] Child attached(const std::string& gate) {
    SharedValue<std::atomic<bool>> ready;
    Child child([&] {
      const auto store = open();
      (void)ask(store, gate);
      *ready = true;
      pause();
    });
    EXPECT_TRUE(becomes_true([&] { return ready->load(); }));
    return child;
  }
  [[nodiscard]] std::uint64_t calls_of_a_refused_ask() {
    const auto result = FailingCall{}.run([&] {
      const auto store = open();
      (void)store.look("gate");
      FailingCall::mark_begin();
      (void)ask(store, "gate");
      FailingCall::mark_end();
    });
    EXPECT_TRUE(result.ended_well);
    return result.calls;
  }

  TempDir dir_;
};

// "A slot of a killed process is free for the next ask": it was refused 60 of 60 times, because all
// processes had been looked at within the last 10 ms.
TEST_F(ShmManyProcesses, TheFirstAskAfterAKillIsAdmitted) {
  const auto store = open();
  for (int i = 0; i < 30; ++i) {
    Child holder = attached("gate");
    ASSERT_TRUE(std::holds_alternative<Refused>(ask(store, "gate")));
    holder.kill_and_wait();
    const Answer answer = ask(store, "gate");
    ASSERT_TRUE(std::holds_alternative<Granted>(answer)) << "round " << i;
    ASSERT_TRUE(store.release(std::get<Granted>(answer).token));
  }
  const auto view = store.look("gate");
  EXPECT_EQ(view->counters.died, 30U);
  EXPECT_EQ(view->counters.refused[static_cast<std::size_t>(Reason::full)], 30U);
}

TEST_F(ShmManyProcesses, AJoinThatFindsADeadHolderIsAdmittedAtOnce) {
  const auto store = open();
  Child holder = attached("gate");
  holder.kill_and_wait();
  EXPECT_TRUE(std::holds_alternative<Granted>(ask(store, "gate", true)));
}

// It was quadratic: every process was probed, each probe takes as long as there are processes.
TEST_F(ShmManyProcesses, ARefusedAskMakesNoMoreCallsBesideManyThanBesideFew) {
  const Child holder = attached("gate");
  const std::uint64_t beside_few = calls_of_a_refused_ask();
  std::vector<Child> others;
  for (int i = 0; i < 40; ++i) others.push_back(attached("other" + std::to_string(i)));
  EXPECT_LE(calls_of_a_refused_ask(), beside_few + 2);
}

// A newcomer probes a few records, so that those of the dead do not pile up. The doctor knows of all of them, also
// once they are written off.
TEST_F(ShmManyProcesses, RecordsOfTheDeadAreUsedAgain) {
  const auto store = open();
  (void)store.list();
  for (int i = 0; i < 100; ++i) attached("gate" + std::to_string(i)).kill_and_wait();
  const auto findings = store.examine();
  const auto dead = std::ranges::find_if(findings, [](const Finding& finding) {
    return finding.what.find("died without leaving") != std::string::npos;
  });
  ASSERT_NE(dead, findings.end());
  EXPECT_EQ(dead->what, "100 processes died without leaving, the last 0s ago");
  EXPECT_EQ(dead->level, Finding::Level::warning);

  std::ifstream segment(dir_.path() + "/default", std::ios::binary);
  segment.seekg(offsetof(shm::Header, processes));
  std::uint32_t records = 0;
  segment.read(reinterpret_cast<char*>(&records), sizeof records);
  EXPECT_GT(records, 0U);
  EXPECT_LT(records, 50U);
}

}  // namespace
}  // namespace airlock
