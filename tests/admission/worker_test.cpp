#include "admission/worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "airlock/testing.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock::internal {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

// What it is needed for is always over before its time: nothing is left to plan for.
class WorkerTest : public ::testing::Test {
 protected:
  void await_works(int times) {
    for (int seen = works_; seen < times; seen = works_) works_.wait(seen);
  }

  internal::SteppedClock clock_;
  std::atomic<int> works_ = 0;
  Worker worker_{"worker", clock_, [this] {
                   worker_.plan(kForever);
                   ++works_;
                   works_.notify_all();
                 }};
};

TEST_F(WorkerTest, IsNotWokenForEachOfManyThatAreOverBeforeTheirTime) {
  worker_.need(clock_.now() + 1h);
  await_works(1);
  for (int i = 0; i < 1000; ++i) worker_.need(clock_.now() + 1h + i * 1us);
  std::this_thread::sleep_for(50ms);  // It would have been woken by now.
  EXPECT_EQ(works_, 1);
}

TEST_F(WorkerTest, IsWokenForWhatIsEarlier) {
  worker_.need(clock_.now() + 1h);
  await_works(1);
  worker_.need(clock_.now() + 30min);
  await_works(2);
}

TEST_F(WorkerTest, WorksWhenTheTimeHasCome) {
  worker_.need(clock_.now() + 1h);
  await_works(1);
  clock_.advance(1h);
  await_works(2);
  worker_.need(clock_.now() + 1h);
  await_works(3);
}

}  // namespace
}  // namespace airlock::internal
