#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "store/backend.hpp"
#include "store/shm/chair.hpp"

namespace airlock::shm {
namespace {

using namespace std::chrono_literals;

class ChairTest : public ::testing::Test {
 protected:
  // Whether it was woken, with news or without, long before its time.
  enum class Woken { with_news, without, not_at_all };
  Woken sleeps(Chair& chair) {
    const Instant deadline = Clock::system().now() + 20s;
    const bool news = chair.sleep(sleeper_, deadline);
    if (Clock::system().now() >= deadline) return Woken::not_at_all;
    return news ? Woken::with_news : Woken::without;
  }

  ProcessRecord record_{};
  std::atomic<std::uint32_t> taken_ = 0;
  Sleeper sleeper_;
};

TEST_F(ChairTest, WhoIsToldBeforeItSleepsDoesNotSleep) {
  Chair chair(record_, taken_);
  EXPECT_EQ(Chair::tell(record_, chair.number()), &record_.chairs[0]);
  EXPECT_EQ(sleeps(chair), Woken::with_news);
}

TEST_F(ChairTest, WhatCameForTheLastOneIsForgotten) {
  std::uint32_t number = 0;
  number = Chair(record_, taken_).number();
  EXPECT_NE(Chair::tell(record_, number), nullptr);
  Chair chair(record_, taken_);
  EXPECT_EQ(chair.number(), number);
  EXPECT_FALSE(chair.sleep(sleeper_, Clock::system().now() + 1ms));
}

TEST_F(ChairTest, WhoIsWokenBeforeItSleepsDoesNotSleep) {
  Chair chair(record_, taken_);
  sleeper_.wake(false);
  EXPECT_EQ(sleeps(chair), Woken::without);
  sleeper_.wake(true);
  EXPECT_EQ(sleeps(chair), Woken::with_news);
}

// Most likely it sleeps by then; it is woken in any case.
TEST_F(ChairTest, WhoSleepsIsWoken) {
  for (const bool news : {false, true}) {
    Chair chair(record_, taken_);
    std::jthread waker([&] {
      std::this_thread::sleep_for(2ms);
      sleeper_.wake(news);
    });
    EXPECT_EQ(sleeps(chair), news ? Woken::with_news : Woken::without);
  }
}

TEST_F(ChairTest, ThereAreAFew) {
  std::vector<std::unique_ptr<Chair>> chairs;
  for (std::size_t i = 0; i < ProcessRecord::kChairs; ++i) {
    chairs.push_back(std::make_unique<Chair>(record_, taken_));
    EXPECT_TRUE(*chairs.back());
  }
  EXPECT_FALSE(Chair(record_, taken_));
  const std::uint32_t number = chairs[1]->number();
  chairs[1].reset();
  EXPECT_EQ(Chair(record_, taken_).number(), number);
}

TEST_F(ChairTest, ANumberOfNoneIsNobodys) {
  EXPECT_EQ(Chair::tell(record_, 0), nullptr);
  Chair chair(record_, taken_);
  EXPECT_EQ(Chair::tell(record_, chair.number() + ProcessRecord::kChairs), nullptr);
  EXPECT_EQ(Chair::tell(record_, chair.number() - 1), nullptr);
}

}  // namespace
}  // namespace airlock::shm
