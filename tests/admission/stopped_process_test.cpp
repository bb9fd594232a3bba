#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "admission/support/waiting_test.hpp"
#include "airlock/airlock_gate.hpp"
#include "support/in_child.hpp"

// A process that was stopped (SIGSTOP, a debugger, a frozen container) does nothing with a lease
// that ended meanwhile.

namespace airlock {
namespace {

using Steady = std::chrono::steady_clock;

// Tells its parent through a pipe that it can be stopped now.
class AStoppedProcess : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_.data()), 0); }
  void TearDown() override {
    for (const int end : ends_) ::close(end);
  }

  // Stops the child for so long once it is ready.
  void stop_for(pid_t child, std::chrono::milliseconds time) const {
    char ready = 0;
    ASSERT_EQ(read(ends_[0], &ready, 1), 1);
    ASSERT_EQ(kill(child, SIGSTOP), 0);
    std::this_thread::sleep_for(time);  // Real time is what this is about.
    ASSERT_EQ(kill(child, SIGCONT), 0);
  }

  // Says so, and returns as soon as this process goes on after at least so long a stop.
  void be_stopped(std::chrono::milliseconds time) const {
    auto last = Steady::now();
    (void)!write(ends_[1], "!", 1);
    for (auto now = Steady::now(); now - last < time; now = Steady::now()) last = now;
  }

 private:
  std::array<int, 2> ends_{};
};

TEST_F(AStoppedProcess, FindsItsLeaseLostAtOnce) {
  const pid_t child = start_child([&] {
    const Airlock erp(open_store("memory:"), "erp", {.limit = 1, .ttl = 1s});
    const Outcome<Lease> lease = erp.try_enter();
    const std::stop_token lost = lease->lost();
    if (!lease->valid()) return false;
    be_stopped(1s);
    if (lease->valid() || lease->remaining() != Duration(0)) return false;
    return eventually([&] { return lost.stop_requested(); }) && !lease->valid();
  });
  stop_for(child, 1500ms);
  EXPECT_TRUE(holds_in(child));
}

TEST_F(AStoppedProcess, DoesNotGetItBackByALateRenewal) {
  const pid_t child = start_child([&] {
    const auto store = open_store("memory:");
    const Airlock erp(store, "erp", {.limit = 1, .ttl = 600ms});
    const Outcome<Lease> lease = erp.try_enter();
    be_stopped(600ms);
    const Outcome<Lease> next = erp.try_enter();
    return !lease->valid() && next && next->valid() && next->fence() > lease->fence();
  });
  stop_for(child, 900ms);
  EXPECT_TRUE(holds_in(child));
}

TEST_F(AStoppedProcess, KeepsALeaseThatHasNotEnded) {
  const pid_t child = start_child([&] {
    const Airlock erp(open_store("memory:"), "erp", {.limit = 1, .ttl = 10s});
    const Outcome<Lease> lease = erp.try_enter();
    be_stopped(200ms);
    return lease->valid() && !lease->lost().stop_requested();
  });
  stop_for(child, 300ms);
  EXPECT_TRUE(holds_in(child));
}

}  // namespace
}  // namespace airlock
