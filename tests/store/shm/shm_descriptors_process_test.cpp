#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "airlock/shm.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/stopping_clock.hpp"
#include "store/support/temp_dir.hpp"

// Programs close descriptors that they did not open: daemonizers, close_range(), closed standard
// streams. None of that may reach the segment, and no descriptor of the program may be touched.

namespace airlock {
namespace {

using namespace std::chrono_literals;

Request ask(std::string_view name, std::uint32_t limit = 1, const GateName& gate = "gate") {
  return {.gate = gate,
          .visitor = VisitorId::named(name),
          .label = name,
          .permits = Permits{.limit = limit, .ttl = 1h}};
}

void close_all() { syscall(SYS_close_range, 3U, ~0U, 0U); }

class ShmDescriptors : public ::testing::Test {
 protected:
  [[nodiscard]] Store open(Duration timeout = 5s) const {
    return shm::make_store({.dir = dir_.path(), .timeout = timeout}, Clock::system());
  }
  [[nodiscard]] bool enters(std::string_view name, std::uint32_t limit = 1) {
    return std::holds_alternative<Granted>(store_.admit(ask(name, limit)));
  }
  [[nodiscard]] bool is_segment(const std::string& target) const {
    return target.starts_with(dir_.path());
  }

  TempDir dir_;
  Store store_ = open();
};

TEST_F(ShmDescriptors, AProcessThatClosesThemKeepsItsLeases) {
  SharedValue<std::atomic<int>> state;
  Child child([&] {
    const auto store = open();
    const Answer answer = store.admit(ask("ann"));
    if (!std::holds_alternative<Granted>(answer)) _exit(1);
    close_all();
    *state = 1;
    while (*state != 2) usleep(100);
    std::this_thread::sleep_for(1100ms);  // The store looks at itself once a second.
    if (store.renew(std::get<Granted>(answer).token, 1h) != Renewal::renewed) _exit(2);
    if (!store.release(std::get<Granted>(answer).token)) _exit(3);
  });
  ASSERT_TRUE(becomes_true([&] { return *state == 1; }));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(enters("bob"));
    usleep(10'000);
  }
  *state = 2;
  EXPECT_TRUE(child.wait());
  EXPECT_TRUE(enters("bob"));
}

// The numbers belong to files of the program by then.
TEST_F(ShmDescriptors, WhatTheProgramOpensInTheirPlaceIsLeftAlone) {
  const std::string own = dir_.path() + "/own";
  Child child([&] {
    std::vector<int> fds;
    {
      const auto store = open();
      (void)store.admit(ask("ann", 100'000));
      close_all();
      for (int i = 0; i < 16; ++i) {
        fds.push_back(::open((own + std::to_string(i)).c_str(), O_RDWR | O_CREAT, 0600));
      }
      for (int i = 0; i < 5'000; ++i) {  // The segment has to grow.
        (void)store.admit(ask(std::to_string(i), 100'000, "gate" + std::to_string(i)));
      }
    }
    for (const int fd : fds) {
      if (fcntl(fd, F_GETFD) < 0) _exit(1);
    }
  });
  EXPECT_TRUE(child.wait());
  for (int i = 0; i < 16; ++i) EXPECT_EQ(std::filesystem::file_size(own + std::to_string(i)), 0U);
}

TEST_F(ShmDescriptors, AProcessThatClosedThemStillFindsTheDead) {
  SharedValue<std::atomic<bool>> in;
  Child holder([&] {
    const auto store = open();
    *in = std::holds_alternative<Granted>(store.admit(ask("ann")));
    pause();
  });
  ASSERT_TRUE(becomes_true([&] { return in->load(); }));
  SharedValue<std::atomic<bool>> ready;
  Child other([&] {
    const auto store = open();
    (void)store.id();
    close_all();
    *ready = true;
    if (!becomes_true([&] { return std::holds_alternative<Granted>(store.admit(ask("bob"))); })) {
      _exit(1);
    }
  });
  ASSERT_TRUE(becomes_true([&] { return ready->load(); }));
  holder.kill_and_wait();
  EXPECT_TRUE(other.wait());
}

// A step of one that counts as dead would go on beside that of its successor.
TEST_F(ShmDescriptors, WhoClosesThemInTheMiddleOfAStepKeepsTheLock) {
  Child child([&] {
    StoppingClock clock;
    const auto store = shm::make_store({.dir = dir_.path()}, clock);
    (void)store.admit(ask("first", 9));
    clock.stop_at_next_step(close_all);
    (void)store.admit(ask("second", 9));
    pause();
  });
  child.wait_until_stopped();
  const auto impatient = open(100ms);
  try {
    (void)impatient.admit(ask("bob", 9));
    ADD_FAILURE() << "it took the lock of a living process";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::busy) << error.what();
  }
  child.signal(SIGCONT);
  EXPECT_TRUE(becomes_true([&] { return store_.look("gate")->counts.in_use == 2; }));
}

// What a program prints would overwrite the segment.
TEST_F(ShmDescriptors, NoneIsOneOfTheStandardStreams) {
  Child child([&] {
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    const auto store = open();
    (void)store.admit(ask("ann", 9));
    (void)store.watch("gate", VisitorId::named("ann"), [] {});
    for (int fd = 0; fd < 3; ++fd) {
      if (fcntl(fd, F_GETFD) >= 0) _exit(1);
    }
    close_all();
    (void)store.examine();
    for (int fd = 0; fd < 3; ++fd) {
      if (fcntl(fd, F_GETFD) >= 0) _exit(2);
    }
  });
  EXPECT_TRUE(child.wait());
  EXPECT_TRUE(enters("bob", 9));
}

// A child that is forked while another thread attaches must not keep the lock of its parent.
TEST_F(ShmDescriptors, AForkWhileTheStoreIsOpenedPassesNoLockOn) {
  constexpr int kStores = 200;
  constexpr std::size_t kForks = 300;
  SharedValue<std::atomic<int>> opened;
  SharedValue<std::array<std::atomic<pid_t>, kForks>> forked;
  const auto gate = [](int number) { return GateName("gate" + std::to_string(number)); };
  Child parent([&] {
    std::thread attaching([&] {
      std::vector<Store> stores;
      for (int i = 0; i < kStores; ++i) {
        stores.push_back(open());
        (void)stores.back().admit(ask("ann", 1, gate(i)));
        ++*opened;
      }
      pause();
    });
    for (std::size_t i = 0; i < kForks && *opened < kStores; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        alarm(100);
        pause();
      }
      (*forked)[i] = pid;
    }
    pause();
  });
  ASSERT_TRUE(becomes_true([&] { return *opened == kStores; }, 60s));
  parent.kill_and_wait();
  int kept = 0;
  for (int i = 0; i < kStores; ++i) {
    const bool free = becomes_true(
        [&] { return std::holds_alternative<Granted>(store_.admit(ask("bob", 1, gate(i)))); }, 2s);
    if (!free) ++kept;
  }
  EXPECT_EQ(kept, 0);
  for (const auto& pid : *forked) {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

}  // namespace
}  // namespace airlock
