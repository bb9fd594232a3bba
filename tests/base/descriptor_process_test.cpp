#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "airlock/mailbox.hpp"
#include "base/descriptor.hpp"
#include "base/label.hpp"
#include "base/no_fork.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"
#if defined(AIRLOCK_WITH_REDIS)
#include "store/redis/notify/event_fd.hpp"
#endif

namespace airlock::base {
namespace {

int open_null() { return open("/dev/null", O_RDWR | O_CLOEXEC); }

TEST(ADescriptor, IsNeverOneOfTheStandardStreams) {
  EXPECT_TRUE(Child([] {
                for (int fd = 0; fd < 3; ++fd) close(fd);
                const Descriptor first(open_null());
                const Descriptor second(open_null());
                if (first.get() < 3 || second.get() < 3) _exit(1);
                if ((fcntl(first.get(), F_GETFD) & FD_CLOEXEC) == 0) _exit(2);
                for (int fd = 0; fd < 3; ++fd) {
                  if (fcntl(fd, F_GETFD) >= 0) _exit(3);
                }
              }).wait());
}

TEST(ADescriptor, OfAMailboxOrAConnectionIsNeitherOneOfThem) {
  Child child([] {
    for (int fd = 0; fd < 3; ++fd) close(fd);
    if (Mailbox().fd() < 3) _exit(2);
#if defined(AIRLOCK_WITH_REDIS)
    if (redis::EventFd().fd() < 3) _exit(3);
#endif
    (void)default_label();
    for (int fd = 0; fd < 3; ++fd) {
      if (fcntl(fd, F_GETFD) >= 0) _exit(4);
    }
  });
  EXPECT_TRUE(child.wait());
}

TEST(ADescriptor, ThatCouldNotBeOpenedStaysSo) {
  errno = ENOENT;
  EXPECT_FALSE(Descriptor(-1));
  EXPECT_EQ(errno, ENOENT);
}

class AKeptFile : public ::testing::Test {
 protected:
  // Every call gives a description of its own.
  [[nodiscard]] Descriptor open_file() const {
    Descriptor fd(open((dir_.path() + "/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(ftruncate(fd.get(), 4096), 0);
    return fd;
  }
  [[nodiscard]] KeptFile keep_lock() const {
    const NoFork no_fork;
    const Descriptor fd = open_file();
    struct flock lock = whole(F_WRLCK);
    EXPECT_EQ(fcntl(fd.get(), F_OFD_SETLK, &lock), 0);
    return KeptFile(fd);
  }
  [[nodiscard]] bool is_locked() const {
    const Descriptor fd = open_file();
    struct flock lock = whole(F_WRLCK);
    EXPECT_EQ(fcntl(fd.get(), F_OFD_GETLK, &lock), 0);
    return lock.l_type != F_UNLCK;
  }
  static struct flock whole(short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
  }

  TempDir dir_;
};

TEST_F(AKeptFile, KeepsItsLocksWithoutADescriptor) {
  {
    const KeptFile kept = keep_lock();
    EXPECT_TRUE(is_locked());
  }
  EXPECT_FALSE(is_locked());
}

TEST_F(AKeptFile, EndsWithItsProcessAlthoughAForkedChildLives) {
  SharedValue<std::atomic<pid_t>> grandchild;
  Child parent([&] {
    const KeptFile kept = keep_lock();
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(100);
      pause();
    }
    *grandchild = pid;
    pause();
  });
  ASSERT_TRUE(becomes_true([&] { return grandchild->load() != 0; }));
  EXPECT_TRUE(is_locked());
  parent.kill_and_wait();
  EXPECT_FALSE(is_locked());
  EXPECT_EQ(::kill(*grandchild, SIGKILL), 0) << "it lived all the time";
}

TEST(NoFork, MakesAForkOfAnotherThreadWait) {
  std::atomic<bool> forked = false;
  std::thread other;
  {
    const NoFork no_fork;
    other = std::thread([&] {
      const Child child([] {});
      forked = true;
    });
    usleep(50'000);
    EXPECT_FALSE(forked);
  }
  other.join();
  EXPECT_TRUE(forked);
}

}  // namespace
}  // namespace airlock::base
