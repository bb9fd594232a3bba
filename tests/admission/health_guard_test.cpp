#include "airlock/health_guard.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "admission/support/waiting_test.hpp"
#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"

namespace airlock {
namespace {

class HealthGuardTest : public WaitingTest {
 protected:
  [[nodiscard]] bool is_paused() {
    const auto view = store_.look("erp");
    return view && !view->pauses.empty();
  }

  std::atomic<double> health_ = 1.0;
  HealthGuardOptions options_{.health = [this] { return health_.load(); }};
  Airlock erp_{store_, "erp", {.limit = 1, .max_wait = 1h}};
};

TEST_P(HealthGuardTest, ClosesBelowTheThresholdAndOpensAtIt) {
  const HealthGuard guard(store_, "erp", options_);
  EXPECT_TRUE(erp_.try_enter());
  health_ = 0.19;
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 2; }));
  clock_.advance(1s);
  ASSERT_TRUE(eventually([&] { return is_paused(); }));
  EXPECT_EQ(erp_.try_enter().error().reason, Reason::paused);
  health_ = 0.2;
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 2; }));
  clock_.advance(1s);
  ASSERT_TRUE(eventually([&] { return !is_paused(); }));
  EXPECT_TRUE(erp_.try_enter());
}

TEST_P(HealthGuardTest, RecoveryAdmitsTheLineAtOnce) {
  health_ = 0;
  const HealthGuard guard(store_, "erp", options_);
  ASSERT_TRUE(eventually([&] { return is_paused(); }));
  std::atomic<bool> in = false;
  std::jthread waiter([&] { in = erp_.enter().has_value(); });
  ASSERT_TRUE(eventually([&] { return waiting("erp") == 1; }));
  health_ = 1;
  ASSERT_TRUE(eventually([&] { return clock_.waiting() >= 2; }));
  clock_.advance(1s);
  EXPECT_TRUE(eventually([&] { return in.load(); }));
}

TEST_P(HealthGuardTest, AGuardThatThrowsIsIll) {
  options_.health = []() -> double { throw std::runtime_error("no answer"); };
  const HealthGuard guard(store_, "erp", options_);
  EXPECT_TRUE(eventually([&] { return is_paused(); }));
  EXPECT_TRUE(eventually([&] { return guard.is_closed(); }));
}

TEST_P(HealthGuardTest, AGuardThatEndsLeavesTheGateOpen) {
  health_ = 0;
  {
    const HealthGuard guard(store_, "erp", options_);
    ASSERT_TRUE(eventually([&] { return is_paused(); }));
  }
  EXPECT_TRUE(erp_.try_enter());
}

TEST_P(HealthGuardTest, RefusesWrongOptions) {
  EXPECT_THROW(HealthGuard(store_, "erp", {}), InvalidArgument);
  options_.threshold = 1.1;
  EXPECT_THROW(HealthGuard(store_, "erp", options_), InvalidArgument);
  options_.threshold = 0.2;
  options_.interval = 0s;
  EXPECT_THROW(HealthGuard(store_, "erp", options_), InvalidArgument);
}

AIRLOCK_WAITING_SUITE(HealthGuardTest);

}  // namespace
}  // namespace airlock
