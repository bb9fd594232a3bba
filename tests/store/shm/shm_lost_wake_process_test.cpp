#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

// Whoever was handed a slot takes it within its claim window, also if the one who gave it back died
// before it woke anybody.

namespace airlock {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kWaiters = 40;  // Far more than there are slots for threads of a process.

// The calling process dies when it wants to wake somebody.
void die_before_waking() {
  std::array program = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 4),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      sock_filter BPF_STMT(BPF_ALU | BPF_AND | BPF_K, static_cast<std::uint32_t>(FUTEX_CMD_MASK)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAKE, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) _exit(1);
}

struct Seen {
  std::atomic<bool> holds = false, go = false;
  std::array<std::atomic<Fence>, kWaiters> fences{};
};

class ShmLostWake : public ::testing::Test {
 protected:
  [[nodiscard]] Store open() const { return open_store("shm:test?dir=" + dir_.path()); }
  // Shorter than the time after which everybody asks in any case.
  [[nodiscard]] static Airlock gate(const Store& store, std::uint32_t limit) {
    return {store,
            "gate",
            {.limit = limit, .ttl = 1h, .max_wait = 1h, .patience = 1h, .claim_window = 600ms}};
  }
  // Has all there is, gives it back at a word, and dies before it wakes anybody.
  [[nodiscard]] Child holder(std::uint32_t limit) {
    Child child([&] {
      Outcome<Lease> lease = gate(open(), limit).enter({.weight = limit});
      seen_->holds = true;
      while (!seen_->go) usleep(100);
      die_before_waking();
      lease->release();
    });
    EXPECT_TRUE(becomes_true([&] { return seen_->holds.load(); }));
    return child;
  }
  void await_waiting(std::uint32_t count) {
    ASSERT_TRUE(becomes_true([&] { return store_.look("gate")->counts.waiting == count; }));
  }
  void expect_all_in_order() {
    EXPECT_TRUE(becomes_true([&] { return !std::ranges::count(fences(), 0U); }));
    EXPECT_TRUE(std::ranges::is_sorted(fences()));
    const Counters counters = store_.look("gate")->counters;
    EXPECT_EQ(counters.missed, 0U) << "were passed over";
    EXPECT_EQ(counters.died, 0U) << "died before they had given back";
  }

  TempDir dir_;
  Store store_ = open();
  SharedValue<Seen> seen_;

 private:
  [[nodiscard]] std::vector<Fence> fences() const {
    return {seen_->fences.begin(), seen_->fences.end()};
  }
};

TEST_F(ShmLostWake, AllWhoWereHandedASlotTakeItInTime) {
  Child dying = holder(kWaiters);
  std::vector<Child> waiters;
  for (std::uint32_t i = 0; i < kWaiters; ++i) {
    waiters.emplace_back([&] {
      const Outcome<Lease> lease = gate(open(), kWaiters).enter();
      seen_->fences.at(i) = lease->fence();
      pause();
    });
    await_waiting(i + 1);
  }
  seen_->go = true;
  EXPECT_FALSE(dying.wait());
  expect_all_in_order();
}

TEST_F(ShmLostWake, SoDoTheThreadsOfOneProcess) {
  Child dying = holder(kWaiters);
  Child waiter([&] {
    const auto store = open();
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < kWaiters; ++i) {
      threads.emplace_back([&, i] {
        const Outcome<Lease> lease = gate(store, kWaiters).enter();
        seen_->fences.at(i) = lease->fence();
        pause();
      });
      if (!becomes_true([&] { return store.look("gate")->counts.waiting == i + 1; })) _exit(1);
    }
    pause();
  });
  await_waiting(kWaiters);
  seen_->go = true;
  EXPECT_FALSE(dying.wait());
  expect_all_in_order();
}

// None of them knows that it is the first: who was before it has just gone in, and dies like the one
// before it.
TEST_F(ShmLostWake, WhoBecomesTheFirstTakesItInTimeToo) {
  Child dying = holder(1);
  std::vector<Child> waiters;
  for (std::uint32_t i = 0; i < kWaiters; ++i) {
    waiters.emplace_back([&] {
      Outcome<Lease> lease = gate(open(), 1).enter();
      seen_->fences.at(i) = lease->fence();
      die_before_waking();
      lease->release();
      pause();  // The last has nobody to wake.
    });
    await_waiting(i + 1);
  }
  seen_->go = true;
  EXPECT_FALSE(dying.wait());
  expect_all_in_order();
}

}  // namespace
}  // namespace airlock
