#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "airlock/error.hpp"
#include "airlock/testing.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"
#include "testing/stepped_clock.hpp"

// Locks and mappings of a file on another host are not shared with it, and some file systems cannot reserve
// memory. They are seldom at hand, so the kernel's answer is changed on its way to the store.

static long pretended_type = 0;

extern "C" int fstatfs(int fd, struct statfs* where) noexcept {
  const auto status = static_cast<int>(syscall(SYS_fstatfs, fd, where));
  if (pretended_type != 0) where->f_type = pretended_type;
  return status;
}

static bool cannot_reserve = false;

extern "C" int fallocate(int fd, int mode, off_t offset, off_t length) {
  if (!cannot_reserve) return static_cast<int>(syscall(SYS_fallocate, fd, mode, offset, length));
  errno = EOPNOTSUPP;
  return -1;
}

namespace airlock {
namespace {

std::string refusal(long type) {
  const TempDir dir;
  internal::SteppedClock clock;
  const auto store = shm::make_store({.dir = dir.path(), .size = 16U << 20}, clock);
  pretended_type = type;
  try {
    (void)store.list();
    return "";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::incompatible);
    return error.what();
  }
}

TEST(ShmNetworkFileSystem, IsRefused) {
  for (const long type : {0x6969L, 0x517BL, 0xFF534D42L, 0xFE534D42L, 0x65735546L, 0x01021997L}) {
    EXPECT_THAT(refusal(type), ::testing::HasSubstr("network file system")) << std::hex << type;
  }
}

TEST(ShmNetworkFileSystem, AnyOtherIsNot) {
  for (const long type : {0x01021994L /* tmpfs */, 0xEF53L /* ext4 */, 0x794C7630L /* overlay */}) {
    EXPECT_EQ(refusal(type), "") << std::hex << type;
  }
}

TEST(ShmFileSystemThatCannotReserve, IsRefusedAndNotCalledFull) {
  cannot_reserve = true;
  const std::string refused = refusal(0);
  cannot_reserve = false;
  EXPECT_THAT(refused, ::testing::HasSubstr("cannot reserve memory"));
  EXPECT_EQ(refusal(0), "");
}

}  // namespace
}  // namespace airlock
