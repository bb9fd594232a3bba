#include <gtest/gtest.h>

#include "airlock/testing.hpp"
#include "store/memory/memory_store.hpp"
#include "testing/stepped_clock.hpp"

// A release looks at the kernel's last tick, where nobody waits: it is some milliseconds behind.

namespace airlock {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

class TickingClock final : public Clock {
 public:
  static constexpr Duration kTick = 4ms;

  Instant now() noexcept override { return steps_.now(); }
  Instant recently() noexcept override { return steps_.now() - kTick; }
  Instant wall() noexcept override { return steps_.wall(); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override {
    steps_.wait_until(lock, changed, deadline);
  }
  void advance(Duration by) { steps_.advance(by); }

 private:
  internal::SteppedClock steps_;
};

class LastTick : public ::testing::Test {
 protected:
  Token enter(const char* visitor) { return std::get<Granted>(store_.admit(ask(visitor))).token; }
  static Request ask(const char* visitor) {
    return {.gate = "gate", .visitor = VisitorId::named(visitor), .permits = Permits{1, 1, 1s}};
  }

  TickingClock clock_;
  Store store_ = memory::make_store({}, clock_);
};

TEST_F(LastTick, AfterItsEndALeaseCanStillBeGivenBackUntilTheNext) {
  const Token ann = enter("ann");
  clock_.advance(1s + TickingClock::kTick - 1us);
  EXPECT_TRUE(store_.release(ann));
  const Token bob = enter("bob");
  clock_.advance(1s + TickingClock::kTick);
  EXPECT_FALSE(store_.release(bob));
}

TEST_F(LastTick, ButNotWhenAnotherHasItsPlace) {
  const Token ann = enter("ann");
  clock_.advance(1s);
  const Token bob = enter("bob");
  EXPECT_FALSE(store_.release(ann));
  EXPECT_TRUE(store_.release(bob));
}

TEST_F(LastTick, WhoIsHandedASlotHasItsWholeClaimWindow) {
  const Token ann = enter("ann");
  Request bob = ask("bob");
  bob.line = {.join = true, .claim_window = 3ms};
  ASSERT_TRUE(std::holds_alternative<Queued>(store_.admit(bob)));
  EXPECT_TRUE(store_.release(ann));
  clock_.advance(2ms);
  EXPECT_TRUE(std::holds_alternative<Granted>(store_.admit(bob)));
  EXPECT_EQ(store_.look("gate")->counters.missed, 0U);
}

}  // namespace
}  // namespace airlock
