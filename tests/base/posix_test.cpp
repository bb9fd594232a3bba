#include "base/posix.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "airlock/error.hpp"

namespace airlock::base {
namespace {

StoreError::Kind kind_of(int error) {
  try {
    throw_errno("call", error);
  } catch (const StoreError& thrown) {
    EXPECT_EQ(thrown.outcome(), StoreError::Outcome::nothing_happened);
    return thrown.kind();
  }
}

TEST(ThrowErrno, SaysWhoCanHelp) {
  EXPECT_EQ(kind_of(EAGAIN), StoreError::Kind::busy);
  EXPECT_EQ(kind_of(ENOSPC), StoreError::Kind::no_room);
  EXPECT_EQ(kind_of(EACCES), StoreError::Kind::incompatible);
  EXPECT_EQ(kind_of(ECONNREFUSED), StoreError::Kind::unavailable);
}

TEST(ThrowErrno, NamesTheCallAndTheReason) {
  try {
    throw_errno("open", EACCES);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "open: Permission denied");
  }
}

}  // namespace
}  // namespace airlock::base
