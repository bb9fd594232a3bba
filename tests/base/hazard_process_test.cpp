#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/hazard.hpp"
#include "support/in_child.hpp"

namespace airlock::base {
namespace {

struct Object {
  Object* next_retired = nullptr;
};

// A thread of the parent has the object pinned. In the child that thread does not exist.
TEST(HazardInAForkedChild, ThePinsOfOtherThreadsAreGone) {
  std::atomic<Object*> current = new Object;
  std::atomic<int> stage = 0;
  std::thread other([&] {
    const Pinned<Object> pinned(current);
    stage = 1;
    stage.notify_all();
    stage.wait(1);
  });
  stage.wait(0);
  EXPECT_TRUE(holds_in_child([&] {
    Retired<Object> retired;
    bool freed = false;
    retired.push(current.exchange(nullptr));
    retired.reclaim([&](Object* /*object*/) { return freed = true; });
    return freed;
  }));
  stage = 2;
  stage.notify_all();
  other.join();
  delete current.exchange(nullptr);
}

TEST(HazardInAForkedChild, ThePinsOfTheForkingThreadHold) {
  std::atomic<Object*> current = new Object;
  const Pinned<Object> outer(current);
  const Pinned<Object> inner(current);
  EXPECT_TRUE(holds_in_child([&] {
    Retired<Object> retired;
    bool freed = false;
    retired.push(current.exchange(nullptr));
    retired.reclaim([&](Object* /*object*/) { return freed = true; });
    return !freed;
  }));
  delete current.exchange(nullptr);
}

}  // namespace
}  // namespace airlock::base
