#include "admission/support/entries.hpp"
#include "support/chaos.hpp"

// As entries_test, for longer.

namespace airlock {
namespace {

class ManyEntries : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  const int entries_ = testing::takes_its_time() ? 10'000 : 1'000;
};

TEST_P(ManyEntries, SixtyFourThreadsAreNeverMoreThanTheLimitAllows) {
  expect_limit_kept(GetParam(), 64, entries_);
}

TEST_P(ManyEntries, SixtyFourThreadsComeInInOrderOfArrival) {
  expect_order_kept(GetParam(), 64, entries_);
}

INSTANTIATE_TEST_SUITE_P(Limits, ManyEntries, ::testing::Values(1, 3, 10));

}  // namespace
}  // namespace airlock
