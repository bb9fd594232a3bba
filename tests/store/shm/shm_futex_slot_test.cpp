#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "store/backend.hpp"
#include "store/shm/futex_slot.hpp"

namespace airlock::shm {
namespace {

using namespace std::chrono_literals;

class ChairTest : public ::testing::Test {
 protected:
  // Whether it was woken, with news or without, long before its time.
  enum class Woken { with_news, without, not_at_all };
  Woken sleeps(FutexSlot& slot) {
    const Instant deadline = Clock::system().now() + 20s;
    const bool news = slot.sleep(sleeper_, deadline);
    if (Clock::system().now() >= deadline) return Woken::not_at_all;
    return news ? Woken::with_news : Woken::without;
  }

  ProcessRecord record_{};
  std::atomic<std::uint32_t> taken_ = 0;
  Sleeper sleeper_;
};

TEST_F(ChairTest, WhoIsToldBeforeItSleepsDoesNotSleep) {
  FutexSlot slot(record_, taken_);
  EXPECT_EQ(FutexSlot::tell(record_, slot.number()), &record_.futex_slots[0]);
  EXPECT_EQ(sleeps(slot), Woken::with_news);
}

TEST_F(ChairTest, WhatCameForTheLastOneIsForgotten) {
  std::uint32_t number = 0;
  number = FutexSlot(record_, taken_).number();
  EXPECT_NE(FutexSlot::tell(record_, number), nullptr);
  FutexSlot slot(record_, taken_);
  EXPECT_EQ(slot.number(), number);
  EXPECT_FALSE(slot.sleep(sleeper_, Clock::system().now() + 1ms));
}

TEST_F(ChairTest, WhoIsWokenBeforeItSleepsDoesNotSleep) {
  FutexSlot slot(record_, taken_);
  sleeper_.wake(false);
  EXPECT_EQ(sleeps(slot), Woken::without);
  sleeper_.wake(true);
  EXPECT_EQ(sleeps(slot), Woken::with_news);
}

// Most likely it sleeps by then; it is woken in any case.
TEST_F(ChairTest, WhoSleepsIsWoken) {
  for (const bool news : {false, true}) {
    FutexSlot slot(record_, taken_);
    std::jthread waker([&] {
      std::this_thread::sleep_for(2ms);
      sleeper_.wake(news);
    });
    EXPECT_EQ(sleeps(slot), news ? Woken::with_news : Woken::without);
  }
}

TEST_F(ChairTest, ThereAreAFew) {
  std::vector<std::unique_ptr<FutexSlot>> slots;
  for (std::size_t i = 0; i < ProcessRecord::kFutexSlots; ++i) {
    slots.push_back(std::make_unique<FutexSlot>(record_, taken_));
    EXPECT_TRUE(*slots.back());
  }
  EXPECT_FALSE(FutexSlot(record_, taken_));
  const std::uint32_t number = slots[1]->number();
  slots[1].reset();
  EXPECT_EQ(FutexSlot(record_, taken_).number(), number);
}

TEST_F(ChairTest, ANumberOfNoneIsNobodys) {
  EXPECT_EQ(FutexSlot::tell(record_, 0), nullptr);
  FutexSlot slot(record_, taken_);
  EXPECT_EQ(FutexSlot::tell(record_, slot.number() + ProcessRecord::kFutexSlots), nullptr);
  EXPECT_EQ(FutexSlot::tell(record_, slot.number() - 1), nullptr);
}

}  // namespace
}  // namespace airlock::shm
