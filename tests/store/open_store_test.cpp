#include <gtest/gtest.h>

#include <string>

#include "airlock/error.hpp"
#include "airlock/store.hpp"

namespace airlock {
namespace {

std::string message_for(std::string_view uri) {
  try {
    return open_store(uri) ? "" : "null";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(OpenStore, OpensAMemoryStore) {
  EXPECT_EQ(message_for("memory:"), "");
  EXPECT_EQ(message_for("memory:?shards=1&timeout=50ms"), "");
}

TEST(OpenStore, EveryMemoryStoreIsItsOwn) {
  EXPECT_NE(open_store("memory:").id(), open_store("memory:").id());
}

TEST(OpenStore, AMemoryStoreHasNoName) {
  EXPECT_EQ(message_for("memory:orders"), "store URI: memory: has no name, only options");
  EXPECT_NE(message_for("memory://"), "");
}

TEST(OpenStore, SharedMemoryHasANameThatIsNoPath) {
  for (const char* uri : {"shm:", "shm:batch", "shm:a.b:c_d-E9?size=64M&mode=0660"}) {
    EXPECT_EQ(message_for(uri), "") << uri;
  }
  for (const char* uri : {"shm:../x", "shm:.hidden", "shm:a/b", "shm:a b", "shm:\n"}) {
    EXPECT_NE(message_for(uri), "") << uri;
  }
  EXPECT_NE(message_for("shm:" + std::string(201, 'a')), "");
}

TEST(OpenStore, SharedMemoryIsForItsOwnerAtLeastAndNotToBeRun) {
  for (const char* mode : {"0400", "0060", "0700", "4600", "abc", "", "06000"}) {
    EXPECT_NE(message_for("shm:?mode=" + std::string(mode)), "") << mode;
  }
  EXPECT_NE(message_for("shm:?size=1M"), "");
  EXPECT_NE(message_for("shm:?dir=here"), "");
  EXPECT_NE(message_for("shm:?group=games").find("dir="), std::string::npos);
}

TEST(OpenStore, ABadRequestIsRefusedBeforeAnythingIsAttached) {
  const auto store = open_store("shm:?dir=/nonexistent/airlock");
  EXPECT_THROW((void)store.admit({.gate = "erp", .visitor = {}}), InvalidArgument);
  EXPECT_THROW((void)store.admit({.gate = "erp", .visitor = {}, .permits = Permits{.limit = 1}}),
               StoreError);
}

#ifndef AIRLOCK_WITH_REDIS
TEST(OpenStore, NamesWhatIsNotBuiltIn) {
  EXPECT_EQ(message_for("redis+cluster://u:secret@host"),
            "store URI: redis+cluster: is not built into this version");
}
#endif

}  // namespace
}  // namespace airlock
