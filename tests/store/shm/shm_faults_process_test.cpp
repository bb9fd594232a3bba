#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/shm.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

// Processes that are not what they seem, that stand still, that come and go, and a host that has no
// more to give.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

Request ask(std::string_view name, std::uint32_t limit = 1, const GateName& gate = "gate") {
  return {.gate = gate,
          .visitor = VisitorId::named(name),
          .label = name,
          .permits = Permits{.limit = limit, .ttl = 1h}};
}

class ShmFaults : public ::testing::Test {
 protected:
  [[nodiscard]] Store open() const {
    return shm::make_store({.dir = dir_.path(), .timeout = 5s}, Clock::system());
  }
  [[nodiscard]] bool enters(std::string_view name, std::uint32_t limit = 1) {
    return std::holds_alternative<Granted>(store_.admit(ask(name, limit)));
  }
  // As root a missing facility is a failure.
  static void need_root() {
    if (geteuid() != 0) GTEST_SKIP() << "NOT RUN: needs root";
  }

  TempDir dir_;
  Store store_ = open();
};

// The first process of a PID namespace of its own, as a container's is: its pid is 1.
Child first_of_namespace(const std::function<void()>& work) {
  return Child([&] {
    if (unshare(CLONE_NEWPID) != 0) _exit(2);
    Child inner([&] {
      if (getpid() != 1) _exit(3);
      work();
    });
    (void)inner.wait();
  });
}

TEST_F(ShmFaults, ProcessesWithTheSamePidInOtherNamespacesAreTwo) {
  need_root();
  if (IsSkipped()) return;
  SharedValue<std::array<std::atomic<pid_t>, 3>> in;
  const auto hold = [&](std::size_t number) {
    return first_of_namespace([&, number] {
      const auto store = open();
      const Request request = ask("v" + std::to_string(number), 2);
      if (!std::holds_alternative<Granted>(store.admit(request))) _exit(1);
      (*in)[number] = 1;
      while (true) {  // Goes on using it, so that it is often in the middle of a step.
        (void)store.look("gate");
        if (number == 1) usleep(1000);
      }
    });
  };
  Child first = hold(0);
  Child second = hold(1);
  ASSERT_TRUE(becomes_true([&] { return (*in)[0] != 0 && (*in)[1] != 0; }));
  EXPECT_FALSE(enters("cid", 2));
  const std::string inside =
      "/proc/" + std::to_string(first.pid()) + "/task/" + std::to_string(first.pid()) + "/children";
  pid_t inner = 0;
  std::ifstream(inside) >> inner;
  ASSERT_GT(inner, 0);
  ::kill(inner, SIGKILL);
  EXPECT_TRUE(becomes_true([&] { return enters("cid", 2); }, 2s));
  const auto view = store_.look("gate");
  EXPECT_EQ(view->counts.in_use, 2U) << "the other one is as it was";
  EXPECT_TRUE(std::ranges::any_of(view->holders,
                                  [](const HolderView& holder) { return holder.label == "v1"; }));
  pid_t other = 0;
  std::ifstream("/proc/" + std::to_string(second.pid()) + "/task/" + std::to_string(second.pid()) +
                "/children") >>
      other;
  if (other > 0) ::kill(other, SIGKILL);
}

// Its clock says something else: a lease of one would end a day too soon or too late for the other.
TEST_F(ShmFaults, AProcessInAnotherTimeNamespaceIsRefused) {
  need_root();
  if (IsSkipped()) return;
  ASSERT_TRUE(enters("ann"));
  Child child([&] {
    if (unshare(CLONE_NEWTIME) != 0) _exit(2);
    if (!(std::ofstream("/proc/self/timens_offsets") << "monotonic 86400 0\n" << std::flush))
      _exit(3);
    Child inner([&] {
      try {
        (void)open().id();
      } catch (const StoreError& error) {
        if (std::string(error.what()).find("time namespace") != std::string::npos) return;
      }
      _exit(4);
    });
    if (!inner.wait()) _exit(5);
  });
  EXPECT_TRUE(child.wait());
  EXPECT_TRUE(enters("ann")) << "who is in goes on";
}

TEST_F(ShmFaults, ALivingProcessWithThePidOfADeadOneIsAnother) {
  need_root();
  if (IsSkipped()) return;
  std::uint32_t reused = 0;
  for (int i = 0; i < 50; ++i) {
    SharedValue<std::atomic<bool>> in;
    Child holder([&] {
      const auto store = open();
      *in = std::holds_alternative<Granted>(store.admit(ask("ann")));
      ::pause();
    });
    ASSERT_TRUE(becomes_true([&] { return in->load(); }));
    const pid_t pid = holder.pid();
    holder.kill_and_wait();
    std::ofstream("/proc/sys/kernel/ns_last_pid") << pid - 1;
    const Child same([] { ::pause(); });
    if (same.pid() == pid) ++reused;
    ASSERT_TRUE(becomes_true([&] { return enters("bob"); }, 2s));
    store_.purge("gate");
  }
  EXPECT_GT(reused, 0U) << "no pid was used again: the test showed nothing";
}

TEST_F(ShmFaults, WhoWasStoppedBeyondItsTtlKnowsWhenItGoesOn) {
  SharedValue<std::atomic<int>> state;
  Child child([&] {
    Airlock airlock(open(), "gate", {.limit = 1, .ttl = 300ms});
    Lease lease = *airlock.try_enter();
    *state = lease.valid() ? 1 : -1;
    while (*state != 2) usleep(100);
    *state = lease.valid() ? -1 : 3;
  });
  ASSERT_TRUE(becomes_true([&] { return *state == 1; }));
  child.signal(SIGSTOP);
  child.wait_until_stopped();
  EXPECT_TRUE(becomes_true([&] { return enters("bob"); }, 2s));
  *state = 2;
  child.signal(SIGCONT);
  EXPECT_TRUE(child.wait());
  EXPECT_EQ(*state, 3);
}

TEST_F(ShmFaults, AStoppedWaiterCostsTheOthersOneClaimWindow) {
  const Token ann = std::get<Granted>(store_.admit(ask("ann"))).token;
  AirlockOptions options{.limit = 1, .ttl = 1h, .max_wait = 1h};
  options.claim_window = 300ms;
  SharedValue<std::atomic<std::int64_t>> entered;
  Child stopped([&] { (void)Airlock(open(), "gate", options).enter(); });
  ASSERT_TRUE(becomes_true([&] { return store_.look("gate")->counts.waiting == 1; }));
  Child next([&] {
    const auto lease = Airlock(open(), "gate", options).enter();
    *entered = SteadyClock::now().time_since_epoch().count();
  });
  ASSERT_TRUE(becomes_true([&] { return store_.look("gate")->counts.waiting == 2; }));
  stopped.signal(SIGSTOP);
  stopped.wait_until_stopped();
  const auto released = SteadyClock::now();
  EXPECT_TRUE(store_.release(ann));
  ASSERT_TRUE(becomes_true([&] { return *entered != 0; }));
  const std::chrono::nanoseconds waited(*entered - released.time_since_epoch().count());
  EXPECT_GE(waited, 290ms);
  EXPECT_LT(waited, 2s);
}

TEST_F(ShmFaults, AFullFileSystemIsAClearErrorAndHoldersAreUnaffected) {
  need_root();
  if (IsSkipped()) return;
  Child child([] {
    const TempDir dir;
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("airlock", dir.path().c_str(), "tmpfs", 0, "size=512k,mode=0700") != 0) {
      _exit(2);
    }
    {
      const auto store = shm::make_store({.dir = dir.path()}, Clock::system());
      const Token ann = std::get<Granted>(store.admit(ask("ann"))).token;
      bool full = false;
      for (int i = 0; i < 100'000 && !full; ++i) {
        try {
          (void)store.admit(ask("bob", 1, "gate" + std::to_string(i)));
        } catch (const StoreError& error) {
          full = error.kind() == StoreError::Kind::no_room;
          if (!full) _exit(3);
        }
      }
      if (!full) _exit(4);
      if (store.renew(ann, 1min) != Renewal::renewed || !store.release(ann)) _exit(5);
      const auto other = shm::make_store({.name = "other", .dir = dir.path()}, Clock::system());
      try {
        (void)other.id();
        _exit(6);
      } catch (const StoreError& error) {
        if (error.kind() != StoreError::Kind::no_room) _exit(7);
      }
    }
    umount2(dir.path().c_str(), MNT_DETACH);
  });
  EXPECT_TRUE(child.wait());
}

// A user of no other group than that.
void become(uid_t uid, gid_t group) {
  if (setgroups(1, &group) != 0 || setgid(uid) != 0 || setuid(uid) != 0) _exit(2);
}

TEST_F(ShmFaults, UsersOfAGroupShareOneSegmentInAFolderThatTheFirstOneMakes) {
  need_root();
  if (IsSkipped()) return;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread asks
  const group* const shared = getgrnam("games");
  if (shared == nullptr) GTEST_SKIP() << "NOT RUN: no group games here";
  chmod(dir_.path().c_str(), 01777);
  const std::string uri = "shm:?group=games&dir=" + dir_.path() + "/shared";
  SharedValue<std::atomic<bool>> in;
  Child first([&] {
    become(12'345, shared->gr_gid);
    umask(077);
    const auto store = open_store(uri);
    *in = std::holds_alternative<Granted>(store.admit(ask("ann")));
    pause();
  });
  ASSERT_TRUE(becomes_true([&] { return in->load(); }));
  Child second([&] {
    become(12'346, shared->gr_gid);
    const auto store = open_store(uri);
    if (std::holds_alternative<Granted>(store.admit(ask("bob")))) _exit(3);
  });
  EXPECT_TRUE(second.wait()) << "two users held one lock";
  Child stranger([&] {
    become(12'347, 12'347);
    try {
      (void)open_store(uri).id();
      _exit(3);
    } catch (const StoreError&) {
    }
  });
  EXPECT_TRUE(stranger.wait());
}

TEST_F(ShmFaults, OfManyThatWaitAndDieTheOthersKeepTheirOrder) {
  constexpr std::size_t kProcesses = 150;
  struct Board {
    std::atomic<std::uint32_t> next;
    std::array<std::atomic<std::uint32_t>, kProcesses> order;
  };
  SharedValue<Board> board;
  const Token ann = std::get<Granted>(store_.admit(ask("ann"))).token;
  std::vector<Child> children;
  for (std::size_t i = 0; i < kProcesses; ++i) {
    children.emplace_back([&, i] {
      AirlockOptions options{.limit = 1, .ttl = 1h, .max_wait = 1h};
      options.patience = 1h;
      const auto lease = Airlock(open(), "gate", options).enter();
      board->order[i] = ++board->next;
    });
    ASSERT_TRUE(becomes_true([&] { return store_.look("gate")->counts.waiting == i + 1; }));
  }
  std::mt19937 random(7);
  std::vector<std::size_t> victims(kProcesses);
  std::iota(victims.begin(), victims.end(), 0);
  std::ranges::shuffle(victims, random);
  victims.resize(kProcesses * 3 / 10);
  for (const std::size_t victim : victims) children[victim].kill_and_wait();
  EXPECT_TRUE(store_.release(ann));
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < kProcesses; ++i) {
    if (children[i].pid() <= 0) continue;
    EXPECT_TRUE(children[i].wait());
    EXPECT_GT(board->order[i], last) << "process " << i << " was overtaken";
    last = board->order[i];
  }
  EXPECT_EQ(board->next, kProcesses - victims.size());
  EXPECT_EQ(store_.look("gate")->counts.in_use, 0U);
}

TEST_F(ShmFaults, ManyComeAndGoAndNothingIsLeft) {  // 100 000 times.
  constexpr int kProcesses = 16;
  constexpr int kTimes = 6250;
  std::vector<Child> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&] {
      for (int n = 0; n < kTimes; ++n) {
        const auto store = open();
        const Answer answer = store.admit(
            {.gate = "gate", .visitor = VisitorId::random(), .permits = Permits{.limit = 1000}});
        if (!std::holds_alternative<Granted>(answer)) _exit(1);
        if (n % 2 == 0 && !store.release(std::get<Granted>(answer).token)) _exit(2);
      }
    });
  }
  for (Child& child : children) EXPECT_TRUE(child.wait());
  EXPECT_EQ(store_.look("gate")->counts.in_use, 0U);
}

TEST_F(ShmFaults, OfManyThatOpenTheFirstTimeOneMakesTheSegment) {
  for (int round = 0; round < 10; ++round) {
    (void)remove_shm_store("shm:?dir=" + dir_.path());
    SharedValue<std::array<std::atomic<StoreId>, 8>> ids;
    SharedValue<std::atomic<bool>> go;
    std::vector<Child> children;
    for (std::size_t i = 0; i < ids->size(); ++i) {
      children.emplace_back([&, i] {
        while (!*go) {
        }
        (*ids)[i] = open().id();
      });
    }
    *go = true;
    for (Child& child : children) ASSERT_TRUE(child.wait());
    for (const auto& id : *ids) EXPECT_EQ(id, (*ids)[0]);
  }
}

}  // namespace
}  // namespace airlock
