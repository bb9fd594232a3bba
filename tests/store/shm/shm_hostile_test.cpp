#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "airlock/shm.hpp"
#include "airlock/testing.hpp"
#include "base/crc32c.hpp"
#include "store/shm/segment.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"
#include "testing/stepped_clock.hpp"

// What has the name of a segment may be anything, and may change while it is used.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Request ask(std::string_view name, const GateName& gate = "gate") {
  return {.gate = gate,
          .visitor = VisitorId::named(name),
          .label = name,
          .permits = Permits{.limit = 2, .ttl = 1h}};
}

class ShmHostile : public ::testing::Test {
 protected:
  [[nodiscard]] shm::Options options() const { return {.dir = dir_.path(), .size = 16U << 20}; }
  [[nodiscard]] Store open() { return shm::make_store(options(), clock_); }
  [[nodiscard]] std::string path() const { return dir_.path() + "/default"; }

  // Why a store cannot be used; empty: it can.
  [[nodiscard]] static std::string refusal(const Store& store) {
    try {
      (void)store.admit(ask("ann"));
      return "";
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), StoreError::Kind::incompatible) << error.what();
      return error.what();
    }
  }
  [[nodiscard]] std::string refusal() { return refusal(open()); }
  [[nodiscard]] std::string failure(const Store& store) {
    try {
      (void)store.admit(ask("bob"));
      return "";
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), StoreError::Kind::unavailable);
      return error.what();
    }
  }

  void make_segment() { ASSERT_EQ(refusal(), ""); }
  void write_file(const std::string& text) {
    std::ofstream(path()) << text;
    chmod(path().c_str(), 0600);
  }
  // Changes the header, with or without a check that fits.
  template <typename Change>
  void change_header(Change change, bool with_check) {
    const int fd = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
    shm::Header header;
    ASSERT_EQ(pread(fd, static_cast<void*>(&header), sizeof(header), 0), ssize_t{sizeof(header)});
    change(header);
    if (with_check) {
      header.check =
          base::crc32c({reinterpret_cast<const char*>(&header), offsetof(shm::Header, check)});
    }
    ASSERT_EQ(pwrite(fd, static_cast<const void*>(&header), sizeof(header), 0),
              ssize_t{sizeof(header)});
    close(fd);
  }

  TempDir dir_;
  internal::SteppedClock clock_;
};

TEST_F(ShmHostile, ASymbolicLinkIsRefused) {
  ASSERT_EQ(symlink("/etc/passwd", path().c_str()), 0);
  EXPECT_THAT(refusal(), HasSubstr("symbolic link"));
}

TEST_F(ShmHostile, APipeIsRefusedAndNobodyWaitsForIt) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(ShmHostile, AFolderIsRefused) {
  ASSERT_EQ(mkdir(path().c_str(), 0700), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(ShmHostile, AFileOfSomethingElseIsRefusedAndLeftAsItIs) {
  write_file(std::string(100'000, 'x'));
  EXPECT_THAT(refusal(), HasSubstr("not an airlock segment"));
  EXPECT_EQ(std::filesystem::file_size(path()), 100'000U);
}

TEST_F(ShmHostile, AnEmptyFileIsRefused) {
  write_file("");
  EXPECT_THAT(refusal(), HasSubstr("empty"));
}

TEST_F(ShmHostile, ASecondNameIsRefused) {
  make_segment();
  ASSERT_EQ(link(path().c_str(), (dir_.path() + "/second").c_str()), 0);
  EXPECT_THAT(refusal(), HasSubstr("second hard link"));
}

TEST_F(ShmHostile, RightsThatNobodyGaveAreRefused) {
  make_segment();
  chmod(path().c_str(), 0666);
  EXPECT_THAT(refusal(), HasSubstr("mode="));
}

TEST_F(ShmHostile, AFileOfSomebodyElseIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "NOT RUN: only root can make such a file";
  make_segment();
  ASSERT_EQ(chown(path().c_str(), 12'345, 12'345), 0);
  EXPECT_THAT(refusal(), HasSubstr("another user"));
}

TEST_F(ShmHostile, AFolderOfSomebodyElseIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "NOT RUN: only root can make such a folder";
  ASSERT_EQ(chown(dir_.path().c_str(), 12'345, 12'345), 0);
  const std::string why = refusal();
  EXPECT_THAT(why, HasSubstr("belongs to another user"));
  EXPECT_THAT(why, HasSubstr("uid 12345"));
  EXPECT_THAT(why, HasSubstr("dir="));
}

TEST_F(ShmHostile, AFolderThatIsAFileIsCalledOne) {
  write_file("");
  const auto store = shm::make_store({.dir = path()}, clock_);
  EXPECT_THAT(refusal(store), HasSubstr("not a folder but a file"));
}

TEST_F(ShmHostile, ALinkToAFolderIsRefused) {
  ASSERT_EQ(symlink("/dev/shm", path().c_str()), 0);
  const auto store = shm::make_store({.dir = path()}, clock_);
  EXPECT_THAT(refusal(store), HasSubstr("symbolic link"));
}

TEST_F(ShmHostile, AFolderThatOthersMayWriteToIsRefused) {
  chmod(dir_.path().c_str(), 0777);
  EXPECT_THAT(refusal(), HasSubstr("others may write"));
  chmod(dir_.path().c_str(), 01777);
  EXPECT_EQ(refusal(), "") << "but not where nobody can replace what is another's";
}

TEST_F(ShmHostile, AnotherLayoutVersionIsRefusedAndBothAreNamed) {
  make_segment();
  change_header([](shm::Header& header) { header.version = 77; }, true);
  const std::string why = refusal();
  EXPECT_THAT(why, HasSubstr("77"));
  EXPECT_THAT(why, HasSubstr(std::to_string(shm::kLayoutVersion)));
}

TEST_F(ShmHostile, ABuildWithOtherRecordsIsRefused) {
  make_segment();
  change_header([](shm::Header& header) { ++header.fingerprint; }, true);
  EXPECT_THAT(refusal(), HasSubstr("other record sizes"));
}

TEST_F(ShmHostile, ADamagedHeaderIsRefused) {
  make_segment();
  change_header([](shm::Header& header) { header.seed ^= 1; }, false);
  EXPECT_THAT(refusal(), HasSubstr("damaged"));
}

TEST_F(ShmHostile, ASizeThatCannotBeIsRefused) {
  make_segment();
  change_header([](shm::Header& header) { header.scale = 31; }, true);
  EXPECT_THAT(refusal(), HasSubstr("damaged"));
}

TEST_F(ShmHostile, ATruncatedSegmentIsRefused) {
  make_segment();
  ASSERT_EQ(truncate(path().c_str(), 1 << 20), 0);
  EXPECT_THAT(refusal(), HasSubstr("truncated"));
}

TEST_F(ShmHostile, ASegmentOfAnotherTimeNamespaceIsRefused) {
  make_segment();
  shm::HostIdentity elsewhere = shm::HostIdentity::present();
  ++elsewhere.time_namespace;
  EXPECT_THAT(refusal(shm::make_store(options(), clock_, elsewhere)), HasSubstr("time namespace"));
}

TEST_F(ShmHostile, ADeletedSegmentIsNoticedWithinASecondAndTheNextCallBeginsAnew) {
  const auto store = open();
  const Token ann = std::get<Granted>(store.admit(ask("ann"))).token;
  ASSERT_TRUE(remove_shm_store("shm:?dir=" + dir_.path()));
  clock_.advance(1s);
  EXPECT_THAT(failure(store), HasSubstr("RemoveIPC"));
  EXPECT_EQ(failure(store), "");
  EXPECT_EQ(store.renew(ann, 1min), Renewal::gone) << "its token is known, and gone";
  EXPECT_FALSE(store.release(ann));
}

TEST_F(ShmHostile, ATruncatedSegmentIsNoticedWithinASecond) {
  const auto store = open();
  (void)store.admit(ask("ann"));
  const auto size = static_cast<off_t>(std::filesystem::file_size(path()));
  ASSERT_EQ(truncate(path().c_str(), size - 4096), 0) << "where nothing is yet";
  clock_.advance(1s);
  EXPECT_THAT(failure(store), HasSubstr("truncated"));
  EXPECT_THAT(refusal(store), HasSubstr("truncated"));
}

// A callback may own anything, also something that uses the store when it is destroyed.
TEST_F(ShmHostile, AReplacedWatchIsDestroyedUnlocked) {
  const auto store =
      shm::make_store({.dir = dir_.path(), .size = 16U << 20, .timeout = 100ms}, Clock::system());
  (void)store.admit(ask("ann"));
  (void)store.admit(ask("bob"));
  Request request = ask("cid");
  request.line.join = true;
  ASSERT_TRUE(std::holds_alternative<Queued>(store.admit(request)));
  bool looked = false;
  std::shared_ptr<int> owned(new int, [&](const int* value) {
    delete value;
    looked = store.look("gate").has_value();
  });
  ASSERT_TRUE(store.watch("gate", request.visitor, [owned] {}));
  owned = nullptr;
  ASSERT_TRUE(store.watch("gate", request.visitor, [] {}));
  EXPECT_TRUE(looked);
}

TEST_F(ShmHostile, AReplacedSegmentIsNoticedWithinASecond) {
  const auto store = open();
  (void)store.admit(ask("ann"));
  std::filesystem::rename(path(), dir_.path() + "/elsewhere");
  const auto other = open();
  EXPECT_EQ(refusal(other), "");
  clock_.advance(1s);
  EXPECT_THAT(failure(store), HasSubstr("another file has its name"));
  EXPECT_EQ(failure(store), "");
  EXPECT_EQ(store.id(), other.id());
}

TEST_F(ShmHostile, RemovingWhatIsNotThereSaysSo) {
  EXPECT_FALSE(remove_shm_store("shm:?dir=" + dir_.path()));
  EXPECT_THROW(remove_shm_store("memory:"), InvalidArgument);
}

TEST_F(ShmHostile, FullPoolsAreAClearErrorAndHoldersAreUnaffected) {
  const auto store = shm::make_store({.dir = dir_.path(), .size = 12U << 20}, clock_);
  const Token ann = std::get<Granted>(store.admit(ask("ann"))).token;
  std::size_t made = 0;
  try {
    for (; made < 100'000; ++made) (void)store.admit(ask("bob", "gate" + std::to_string(made)));
    ADD_FAILURE() << "it never gets full";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreError::Kind::no_room);
    EXPECT_EQ(error.outcome(), StoreError::Outcome::nothing_happened);
  }
  EXPECT_GT(made, 100U);
  EXPECT_EQ(store.renew(ann, 1min), Renewal::renewed);
  EXPECT_TRUE(store.release(ann));
}

}  // namespace
}  // namespace airlock
