#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

// Which boot a segment is of. A container may have a boot id of its own, and shares the segments of
// its host all the same.

namespace airlock {
namespace {

using namespace std::chrono_literals;

constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

Request ask(std::string_view name, Hold hold = Hold::bound) {
  return {.gate = "gate",
          .visitor = VisitorId::named(name),
          .permits = Permits{.limit = 1, .ttl = 1h},
          .hold = hold};
}

bool enters(const Store& store, const Request& request) {
  return std::holds_alternative<Granted>(store.admit(request));
}

shm::HostIdentity of_another_boot() {
  shm::HostIdentity other = shm::HostIdentity::present();
  other.boot = "00000000-0000-0000-0000-000000000000";
  return other;
}

// A folder on a disk, gone in the end. Empty: there is none here.
class DiskDir {
 public:
  DiskDir() {
    for (const std::string parent : {"/var/tmp", "/tmp", "."}) {
      struct statfs system {};
      if (statfs(parent.c_str(), &system) != 0 || system.f_type == TMPFS_MAGIC) continue;
      std::string name = std::filesystem::absolute(parent).string() + "/airlock-test-XXXXXX";
      if (mkdtemp(name.data()) == nullptr) continue;
      path_ = name;
      return;
    }
  }
  DiskDir(const DiskDir&) = delete;
  DiskDir& operator=(const DiskDir&) = delete;
  ~DiskDir() {
    if (!path_.empty()) std::filesystem::remove_all(path_);
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// In a mount namespace of its own, with a boot id of its own, as some containers have.
Child in_container(const std::string& folder, const std::function<void()>& work) {
  const std::string fake = folder + "/boot_id";
  std::ofstream(fake) << "11111111-1111-1111-1111-111111111111\n";
  return Child([&] {
    const bool made = unshare(CLONE_NEWNS) == 0 &&
                      mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) == 0 &&
                      mount(fake.c_str(), kBootId, "", MS_BIND, nullptr) == 0;
    if (!made) _exit(2);
    if (shm::HostIdentity::present().boot.front() != '1') _exit(3);
    work();
  });
}

bool can_make_containers() {
  return Child([] {
           const bool made = unshare(CLONE_NEWNS) == 0 &&
                             mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) == 0 &&
                             mount("/proc/version", kBootId, "", MS_BIND, nullptr) == 0;
           _exit(made ? 0 : 1);
         })
      .wait();
}

class ShmBoot : public ::testing::Test {
 protected:
  static Store open(const std::string& folder) {
    return shm::make_store({.dir = folder, .size = 16U << 20}, Clock::system());
  }
  static Store open_in_another_boot(const std::string& folder) {
    return shm::make_store({.dir = folder, .size = 16U << 20}, Clock::system(), of_another_boot());
  }
  static void need_containers() {
    if (!can_make_containers()) GTEST_SKIP() << "NOT RUN: may not make mount namespaces";
  }
  void need_disk() const {
    if (disk_.path().empty()) GTEST_SKIP() << "NOT RUN: every folder here is on tmpfs";
  }

  TempDir memory_;
  DiskDir disk_;
};

TEST_F(ShmBoot, AContainerWithItsOwnBootIdSharesALiveSegment) {
  need_containers();
  if (IsSkipped()) return;
  const auto store = open(memory_.path());
  ASSERT_TRUE(enters(store, ask("ann")));
  Child container = in_container(memory_.path(), [&] {
    if (enters(open(memory_.path()), ask("bob"))) _exit(4);
  });
  EXPECT_TRUE(container.wait()) << "two held one lock";
  EXPECT_EQ(store.look("gate")->counts.in_use, 1U);
}

TEST_F(ShmBoot, InMemoryADetachedLeaseOutlivesItsProcessAlsoForAContainer) {
  need_containers();
  if (IsSkipped()) return;
  ASSERT_TRUE(enters(open(memory_.path()), ask("ann", Hold::detached)));
  Child container = in_container(memory_.path(), [&] {
    if (enters(open(memory_.path()), ask("bob"))) _exit(4);
  });
  EXPECT_TRUE(container.wait()) << "two held one lock";
}

TEST_F(ShmBoot, OnADiskAContainerSharesASegmentThatIsUsed) {
  need_containers();
  need_disk();
  if (IsSkipped()) return;
  const auto store = open(disk_.path());
  ASSERT_TRUE(enters(store, ask("ann")));
  Child container = in_container(disk_.path(), [&] {
    if (enters(open(disk_.path()), ask("bob"))) _exit(4);
  });
  EXPECT_TRUE(container.wait()) << "two held one lock";
}

TEST_F(ShmBoot, OnADiskASegmentOfAnEarlierBootIsReplaced) {
  need_disk();
  if (IsSkipped()) return;
  const StoreId earlier = [&] {
    const auto store = open_in_another_boot(disk_.path());
    EXPECT_TRUE(enters(store, ask("ann", Hold::detached)));
    return store.id();
  }();
  const auto store = open(disk_.path());
  EXPECT_NE(store.id(), earlier);
  EXPECT_TRUE(enters(store, ask("bob")));
}

TEST_F(ShmBoot, OnADiskASegmentOfThisBootIsKept) {
  need_disk();
  if (IsSkipped()) return;
  ASSERT_TRUE(enters(open(disk_.path()), ask("ann", Hold::detached)));
  EXPECT_FALSE(enters(open(disk_.path()), ask("bob")));
}

TEST_F(ShmBoot, OnADiskWhatIsUsedIsNotReplacedWhateverItsBootIdSays) {
  need_disk();
  if (IsSkipped()) return;
  const auto earlier = open_in_another_boot(disk_.path());
  ASSERT_TRUE(enters(earlier, ask("ann")));
  const auto store = open(disk_.path());
  EXPECT_EQ(store.id(), earlier.id());
  EXPECT_FALSE(enters(store, ask("bob")));
}

// The one that opens it sees either the old segment in use or a new one, never one without a name.
TEST_F(ShmBoot, OnADiskNobodyUsesWhatIsBeingReplaced) {
  need_disk();
  if (IsSkipped()) return;
  for (int round = 0; round < 20; ++round) {
    (void)open_in_another_boot(disk_.path()).id();
    SharedValue<std::array<std::atomic<StoreId>, 6>> ids;
    SharedValue<std::atomic<bool>> go;
    std::vector<Child> children;
    for (std::size_t i = 0; i < ids->size(); ++i) {
      children.emplace_back([&, i] {
        while (!*go) {
        }
        const auto store = i % 2 == 0 ? open(disk_.path()) : open_in_another_boot(disk_.path());
        (*ids)[i] = store.id();
        pause();
      });
    }
    *go = true;
    ASSERT_TRUE(becomes_true(
        [&] { return std::ranges::all_of(*ids, [](const auto& id) { return id != StoreId{}; }); }));
    for (const auto& id : *ids) EXPECT_EQ(id, ids->front()) << "round " << round;
  }
}

}  // namespace
}  // namespace airlock
