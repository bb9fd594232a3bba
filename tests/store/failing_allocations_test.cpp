#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#ifdef AIRLOCK_WITH_REDIS
#include <thread>

#include "store/backend.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/sleeper.hpp"
#include "store/support/failures.hpp"
#endif
#include "contract/support/store_under_test.hpp"
#include "store/redis/support/failing_steps.hpp"

// Every allocation of every step is refused once.

namespace {

thread_local std::uint64_t allocations_left = 0;  // 0: all succeed.

void* allocate(std::size_t size, std::size_t alignment) {
  if (allocations_left != 0 && --allocations_left == 0) throw std::bad_alloc();
  void* const memory =
      alignment > alignof(std::max_align_t)
          ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
          : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) { return allocate(size, 1); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept try {
  return allocate(size, 1);
} catch (const std::bad_alloc&) {
  return nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace airlock {
namespace {

class FailingAllocations : public ::testing::TestWithParam<contract::StoreFactory> {};

// Runs the step with the k-th allocation refused; 0: none. How many there were.
std::uint64_t run(const contract::StoreFactory& factory, const FailingStep& step, std::uint64_t k,
                  FailedStep& result) {
  constexpr std::uint64_t kMany = 1'000'000;
  const auto under_test = factory.make();
  const Store& store = under_test->store();
  step.prepare(store);
  result.before = state_of(store);
  allocations_left = k == 0 ? kMany : k;
  result.said = said_by(step.step, store);
  const std::uint64_t used = (k == 0 ? kMany : k) - allocations_left;
  allocations_left = 0;
  result.after = state_of(store);
  return used;
}

TEST_P(FailingAllocations, LeaveTheStoreAsBeforeOrAsComplete) {
  for (const FailingStep& step : failing_steps()) {
    SCOPED_TRACE(step.name);
    FailedStep complete;
    const std::uint64_t allocations = run(GetParam(), step, 0, complete);
    for (std::uint64_t k = 1; k <= allocations; ++k) {
      FailedStep failed;
      (void)run(GetParam(), step, k, failed);
      failed.complete = complete.after;
      EXPECT_EQ(failed.wrong(), "") << "allocation " << k << " of " << allocations;
    }
  }
}

#ifdef AIRLOCK_WITH_REDIS

// Who waits alone reads for its process: if that fails, the next one is told all the same.
TEST(FailingAllocationsOfAWaiter, LeaveTheNextOneServed) {
  using namespace std::chrono_literals;
  const auto store = redis::make_store({.address = testing::RedisServer::shared().address(),
                                        .prefix = testing::unused_prefix(),
                                        .timeout = 5s});
  const auto sleeper = std::make_shared<Sleeper>();
  const auto is_told = [&](std::uint64_t k) {
    Request request = testing::asks("gate", VisitorId::random());
    const Answer inside = store.admit(request);
    request.visitor = VisitorId::random();
    request.line.join = true;
    EXPECT_TRUE(std::holds_alternative<Queued>(store.admit(request)));
    const std::jthread releases([&] {
      std::this_thread::sleep_for(2ms);
      EXPECT_TRUE(store.release(std::get<Granted>(inside).token));
    });
    const Instant deadline = internal::backend_of(store)->clock().now() + 10s;
    bool told = false;
    allocations_left = k;
    try {
      told = internal::backend_of(store)->await("gate", request.visitor, sleeper, deadline);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): as it should be
    }
    const bool refused = k != 0 && allocations_left == 0;
    allocations_left = 0;
    store.unwatch("gate", request.visitor);
    EXPECT_TRUE(store.leave("gate", request.visitor));
    return told || refused;
  };
  EXPECT_TRUE(is_told(0));
  for (std::uint64_t k = 1; k <= 30; ++k) {
    EXPECT_TRUE(is_told(k)) << "allocation " << k;
    EXPECT_TRUE(is_told(0)) << "after allocation " << k;
  }
}

#endif

INSTANTIATE_TEST_SUITE_P(Stores, FailingAllocations,
                         ::testing::ValuesIn(contract::stores_on_one_server()),
                         [](const auto& store) { return store.param.name; });

}  // namespace
}  // namespace airlock
