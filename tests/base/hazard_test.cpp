#include "base/hazard.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace airlock::base {
namespace {

struct Object {
  explicit Object(std::atomic<int>& living) : living_(living) { ++living_; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() {
    value = -1;
    --living_;
  }

  int value = 7;
  Object* next_retired = nullptr;

 private:
  std::atomic<int>& living_;
};

class Hazard : public ::testing::Test {
 protected:
  ~Hazard() override { delete current_.exchange(nullptr); }

  void replace() {
    retired_.push(current_.exchange(new Object(living_)));
    reclaim();
  }
  void reclaim() {
    retired_.reclaim([](Object* object) {
      delete object;
      return true;
    });
  }

  std::atomic<int> living_ = 0;
  std::atomic<Object*> current_ = new Object(living_);
  Retired<Object> retired_;
};

TEST_F(Hazard, WhatNobodyHasPinnedIsFreedAtOnce) {
  { const Pinned<Object> pinned(current_); }
  replace();
  EXPECT_EQ(living_, 1);
}

TEST_F(Hazard, WhatIsPinnedIsFreedAfterwards) {
  {
    const Pinned<Object> pinned(current_);
    replace();
    EXPECT_EQ(living_, 2);
    EXPECT_EQ(pinned->value, 7);
  }
  reclaim();
  EXPECT_EQ(living_, 1);
}

TEST_F(Hazard, WhatAnotherThreadHasPinnedIsNotFreed) {
  std::atomic<int> stage = 0;
  std::thread other([&] {
    const Pinned<Object> pinned(current_);
    stage = 1;
    stage.notify_all();
    stage.wait(1);
    EXPECT_EQ(pinned->value, 7);
  });
  stage.wait(0);
  replace();
  EXPECT_EQ(living_, 2);
  stage = 2;
  stage.notify_all();
  other.join();
  reclaim();
  EXPECT_EQ(living_, 1);
}

TEST_F(Hazard, PinsNest) {
  constexpr int kDepth = 20;
  std::vector<std::unique_ptr<Pinned<Object>>> pins;
  for (int i = 0; i < kDepth; ++i) {
    pins.push_back(std::make_unique<Pinned<Object>>(current_));
    replace();
  }
  EXPECT_EQ(living_, kDepth + 1);
  for (; !pins.empty(); pins.pop_back()) EXPECT_EQ((*pins.back())->value, 7);
  reclaim();
  EXPECT_EQ(living_, 1);
}

TEST_F(Hazard, NothingIsPinnedWhereThereIsNothing) {
  const std::atomic<Object*> nothing = nullptr;
  const Pinned<Object> pinned(nothing);
  EXPECT_FALSE(pinned);
  replace();
  EXPECT_EQ(living_, 1);
}

TEST_F(Hazard, WhatCannotBeFreedYetIsOfferedAgain) {
  retired_.push(current_.exchange(new Object(living_)));
  retired_.reclaim([](Object* /*object*/) { return false; });
  EXPECT_EQ(living_, 2);
  reclaim();
  EXPECT_EQ(living_, 1);
}

// Its slot has been given back by then.
TEST_F(Hazard, AThreadMayPinWhileItEnds) {
  static std::atomic<Object*>* source = nullptr;
  static std::atomic<int> seen = 0;
  struct AtEnd {
    ~AtEnd() {
      const Pinned<Object> pinned(*source);
      seen = pinned->value;
    }
  };
  source = &current_;
  std::thread([&] {
    thread_local std::optional<AtEnd> at_end(std::in_place);  // Ends last: made first.
    (void)at_end;
    const Pinned<Object> pinned(current_);
  }).join();
  EXPECT_EQ(seen, 7);
  replace();
  EXPECT_EQ(living_, 1);
}

TEST_F(Hazard, ThreadsReadWhileOthersReplace) {
  constexpr int kReaders = 8;
  constexpr int kReplacements = 2'000;
  std::atomic<bool> stopping = false;
  std::atomic<int> freed_too_early = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kReaders; ++i) {
    threads.emplace_back([&] {
      while (!stopping) {
        const Pinned<Object> outer(current_);
        const Pinned<Object> inner(current_);
        if (outer->value != 7 || inner->value != 7) ++freed_too_early;
      }
    });
  }
  std::thread second([&] {
    for (int i = 0; i < kReplacements; ++i) replace();
  });
  for (int i = 0; i < kReplacements; ++i) replace();
  second.join();
  stopping = true;
  for (std::thread& thread : threads) thread.join();
  reclaim();
  EXPECT_EQ(freed_too_early, 0);
  EXPECT_EQ(living_, 1);
}

}  // namespace
}  // namespace airlock::base
