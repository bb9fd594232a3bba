#include "store/callback_runner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/locks.hpp"

namespace airlock::internal {
namespace {

class CallbackRunnerTest : public ::testing::Test {
 protected:
  void run(const std::string& key, std::function<void()> callback) {
    const base::LockGuard lock(mutex_);
    std::function<void()> taken = std::move(callback);
    runner_.run(mutex_, key, taken);
  }
  void wait(const std::string& key) {
    const base::LockGuard lock(mutex_);
    runner_.wait(mutex_, key);
  }
  // Another thread can lock the mutex; hangs where it cannot.
  [[nodiscard]] bool is_unlocked() {
    std::atomic<bool> locked = false;
    std::thread([&] {
      const base::LockGuard lock(mutex_);
      locked = true;
    }).join();
    return locked;
  }

 private:
  base::Mutex mutex_;
  CallbackRunner<std::string> runner_;
};

TEST_F(CallbackRunnerTest, RunsWithoutTheMutex) {
  bool unlocked = false;
  run("ann", [&] { unlocked = is_unlocked(); });
  EXPECT_TRUE(unlocked);
}

TEST_F(CallbackRunnerTest, ARemovalWaitsUntilTheCallbackHasRun) {
  std::latch begun(1);
  std::latch may_end(1);
  std::atomic<bool> ended = false;
  std::thread runs([&] {
    run("ann", [&] {
      begun.count_down();
      may_end.wait();
      ended = true;
    });
  });
  begun.wait();
  wait("bob");  // Somebody else's is not waited for.
  std::thread waits([&] {
    wait("ann");
    EXPECT_TRUE(ended);
  });
  may_end.count_down();
  waits.join();
  runs.join();
}

TEST_F(CallbackRunnerTest, ACallbackMayRemoveItself) {
  bool removed = false;
  run("ann", [&] {
    wait("ann");
    removed = true;
  });
  EXPECT_TRUE(removed);
}

// What a callback owns may take the same lock when it is destroyed.
struct Owned {
  explicit Owned(std::function<void()> at_end) : at_end_(std::move(at_end)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { at_end_(); }

 private:
  std::function<void()> at_end_;
};

TEST_F(CallbackRunnerTest, ACallbackThatThrowsIsDestroyedWithoutTheMutex) {
  bool unlocked = false;
  auto owned = std::make_shared<Owned>([&] { unlocked = is_unlocked(); });
  run("ann", [owned = std::move(owned)] { throw std::runtime_error("not for the step"); });
  EXPECT_TRUE(unlocked);
}

}  // namespace
}  // namespace airlock::internal
