#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "store/backend.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

// Threads that wait at a segment sleep on words in it, as long as there are enough of them, and are
// woken by whoever has news for them.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

class ShmAwait : public ::testing::Test {
 protected:
  [[nodiscard]] Store open() const { return open_store("shm:test?dir=" + dir_.path()); }
  [[nodiscard]] static Airlock gate(const Store& store) {
    return {store, "gate", {.limit = 1, .ttl = 1h, .max_wait = 1h, .patience = 1h}};
  }
  void await_waiting(std::uint32_t count) {
    ASSERT_TRUE(becomes_true([&] { return store_.look("gate")->counts.waiting == count; }));
  }

  TempDir dir_;
  Store store_ = open();
  Airlock gate_ = gate(store_);
};

std::multiset<std::string> threads() {
  std::multiset<std::string> names;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    names.insert(name);
  }
  return names;
}

TEST_F(ShmAwait, OneThatWaitsNeedsNoThreadBesideIt) {
  Outcome<Lease> first = gate_.enter();
  Child other([&] {
    const auto store = open();
    const Outcome<Lease> lease = gate(store).enter();
    if (!lease || threads().contains("airlock-shm")) _exit(1);
  });
  await_waiting(1);
  first->release();
  EXPECT_TRUE(other.wait());
}

TEST_F(ShmAwait, MoreThanThereAreChairsAreServedInOrder) {
  constexpr std::size_t kThreads = 12;
  Outcome<Lease> first = gate_.enter();
  SharedValue<std::atomic<bool>> all_wait;
  Child other([&] {
    const auto store = open();
    std::array<std::uint32_t, kThreads> served{};
    std::uint32_t next = 0;  // Of whoever is inside.
    std::vector<std::jthread> waiting;
    for (std::size_t i = 0; i < kThreads; ++i) {
      waiting.emplace_back([&, i] {
        const Outcome<Lease> lease = gate(store).enter();
        served.at(i) = ++next;
      });
      if (!becomes_true([&] { return store.look("gate")->counts.waiting == i + 1; })) _exit(1);
    }
    *all_wait = true;
    waiting.clear();
    for (std::size_t i = 0; i < kThreads; ++i) {
      if (served.at(i) != i + 1) _exit(2);
    }
  });
  ASSERT_TRUE(becomes_true([&] { return all_wait->load(); }));
  first->release();
  EXPECT_TRUE(other.wait());
}

TEST_F(ShmAwait, WhoSleepsIsStoppedAtOnce) {
  const Outcome<Lease> first = gate_.enter();
  std::stop_source source;
  SteadyClock::time_point ended;
  std::jthread waiter([&] {
    EXPECT_FALSE(gate_.enter({.stop = source.get_token()}));
    ended = SteadyClock::now();
  });
  await_waiting(1);
  std::this_thread::sleep_for(3ms);  // Most likely it sleeps; it is stopped in any case.
  const auto began = SteadyClock::now();
  source.request_stop();
  waiter.join();
  EXPECT_LT(ended - began, 1s);
  EXPECT_EQ(store_.look("gate")->counts.waiting, 0U);
}

TEST_F(ShmAwait, TheEndOfItsTimeWakesIt) {
  const Outcome<Lease> first = gate_.enter();
  const auto began = SteadyClock::now();
  EXPECT_FALSE(gate_.try_enter_for(60ms));
  EXPECT_GE(SteadyClock::now() - began, 60ms);
}

// From one to the other as fast as they can: who is inside goes when somebody waits, and nobody asks
// before it is told.
TEST_F(ShmAwait, NoWakeUpIsLost) {
  constexpr int kTurns = 2000;
  SharedValue<std::atomic<int>> arrived;
  SharedValue<std::atomic<int>> playing;
  *playing = 4;
  const auto play = [&](const Store& store) {
    ++*arrived;
    if (!becomes_true([&] { return *arrived == 4; })) return false;
    const auto sleeper = std::make_shared<Sleeper>();
    Request request{.gate = "gate", .permits = Permits{.limit = 1, .ttl = 1h}};
    request.line = {.join = true, .patience = 1h, .claim_window = 1h};
    for (int i = 0; i < kTurns; ++i) {
      request.visitor = VisitorId::random();
      Answer answer = store.admit(request);
      while (!std::holds_alternative<Granted>(answer)) {
        const Instant end = internal::backend_of(store)->clock().now() + 20s;
        if (!internal::backend_of(store)->await(request.gate, request.visitor, sleeper, end))
          return false;
        answer = store.admit(request);
      }
      while (*playing > 1 && store.counts({&request.gate, 1}).front().waiting == 0) {
        std::this_thread::yield();
      }
      if (!store.release(std::get<Granted>(answer).token)) return false;
    }
    --*playing;
    return true;
  };
  Child first([&] { _exit(play(open()) ? 0 : 1); });
  Child second([&] { _exit(play(open()) ? 0 : 1); });
  bool well = false;
  std::jthread third([&] { well = play(store_); });
  EXPECT_TRUE(play(store_));
  third.join();
  EXPECT_TRUE(well);
  EXPECT_TRUE(first.wait());
  EXPECT_TRUE(second.wait());
}

}  // namespace
}  // namespace airlock
