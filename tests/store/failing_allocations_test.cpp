#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "contract/support/store_under_test.hpp"
#include "store/support/failing_steps.hpp"

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
  Store& store = *under_test->store();
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

INSTANTIATE_TEST_SUITE_P(Stores, FailingAllocations,
                         ::testing::ValuesIn(contract::stores_on_one_server()),
                         [](const auto& store) { return store.param.name; });

}  // namespace
}  // namespace airlock
