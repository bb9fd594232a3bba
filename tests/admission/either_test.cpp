#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "airlock/ask.hpp"

namespace airlock {
namespace {

TEST(Either, FiresWhenTheFirstDoesOrTheSecond) {
  for (const bool first : {true, false}) {
    std::stop_source a;
    std::stop_source b;
    const Either stop = either(a.get_token(), b.get_token());
    EXPECT_FALSE(stop.token().stop_requested());
    (first ? a : b).request_stop();
    EXPECT_TRUE(stop.token().stop_requested());
    EXPECT_FALSE((first ? b : a).stop_requested()) << "nothing goes back";
  }
}

TEST(Either, HasFiredIfOneHadAlready) {
  std::stop_source done;
  done.request_stop();
  const std::stop_source other;
  EXPECT_TRUE(either(done.get_token(), other.get_token()).token().stop_requested());
  EXPECT_TRUE(either(other.get_token(), done.get_token()).token().stop_requested());
}

TEST(Either, ATokenThatCannotFireDoesNoHarm) {
  std::stop_source a;
  const Either stop = either({}, a.get_token());
  EXPECT_FALSE(either({}, {}).token().stop_requested());
  a.request_stop();
  EXPECT_TRUE(stop.token().stop_requested());
}

TEST(Either, IsATokenWhereOneIsAskedFor) {
  std::stop_source a;
  a.request_stop();
  EXPECT_TRUE((Ask{.stop = either(a.get_token(), {})}.stop.stop_requested()));
}

TEST(Either, OfEitherIsOfThree) {
  std::stop_source a;
  std::stop_source b;
  std::stop_source c;
  const Either two = either(a.get_token(), b.get_token());
  const Either three = either(two, c.get_token());
  b.request_stop();
  EXPECT_TRUE(three.token().stop_requested());
}

// What it listens to knows nothing of it any more when it is gone: neither a call nor memory.
TEST(Either, LeavesNothingBehind) {
  std::stop_source a;
  std::stop_source b;
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = alive;
  {
    const Either stop = either(a.get_token(), b.get_token());
    const std::stop_callback on_stop(stop.token(), [mine = std::move(alive)] { ++*mine; });
  }
  EXPECT_TRUE(watched.expired());
  const std::stop_token late = either(a.get_token(), b.get_token()).token();
  a.request_stop();
  EXPECT_FALSE(late.stop_requested());
}

TEST(Either, BothAtOnceFireOnce) {
  for (int i = 0; i < 200; ++i) {
    std::stop_source a;
    std::stop_source b;
    std::atomic<int> fired = 0;
    {
      const Either stop = either(a.get_token(), b.get_token());
      const std::stop_callback on_stop(stop.token(), [&] { ++fired; });
      std::jthread first([&] { a.request_stop(); });
      std::jthread second([&] { b.request_stop(); });
    }
    EXPECT_EQ(fired, 1);
  }
}

}  // namespace
}  // namespace airlock
