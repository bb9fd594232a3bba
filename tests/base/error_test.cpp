#include "airlock/error.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace airlock {
namespace {

template <typename... Types>
constexpr bool kAllAreErrors = (std::is_base_of_v<Error, Types> && ...);

TEST(Error, IsTheBaseOfEveryFailure) {
  EXPECT_TRUE((kAllAreErrors<InvalidArgument, StoreError, SealAcquiringError, SealReleasingError,
                             LeaseExpiredError>));
  EXPECT_TRUE((std::is_base_of_v<std::runtime_error, Error>));
}

TEST(StoreError, SaysWhatItIsAndWhetherItMayHaveHappened) {
  try {
    throw StoreError(StoreError::Kind::busy, StoreError::Outcome::unknown, "no answer within 1s");
  } catch (const Error& error) {
    const auto& store_error = dynamic_cast<const StoreError&>(error);
    EXPECT_EQ(store_error.kind(), StoreError::Kind::busy);
    EXPECT_EQ(store_error.outcome(), StoreError::Outcome::unknown);
    EXPECT_STREQ(error.what(), "no answer within 1s");
  }
}

}  // namespace
}  // namespace airlock
