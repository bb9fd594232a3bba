#include "airlock/testing.hpp"
#include "contract/support/shm_parties.hpp"
#include "contract/support/store_under_test.hpp"
#include "store/shm/shm_store.hpp"
#ifdef AIRLOCK_WITH_REDIS
#include "store/support/redis_server.hpp"
#endif
#include "store/support/temp_dir.hpp"

namespace airlock::contract {
namespace {

class MemoryStoreUnderTest final : public StoreUnderTest {
 public:
  std::shared_ptr<Store> store() override { return store_; }
  Instant now() override { return clock_.now(); }
  void advance(Duration duration) override { clock_.advance(duration); }
  void jump_wall(Duration by) override { clock_.set_wall(clock_.wall() + by); }
  Instant wall() override { return clock_.wall(); }

 private:
  airlock::testing::ManualClock clock_;
  std::shared_ptr<Store> store_ = airlock::testing::memory_store(clock_);
};

class ShmStoreUnderTest final : public StoreUnderTest {
 public:
  std::shared_ptr<Store> store() override { return store_; }
  Instant now() override { return clock_.now(); }
  void advance(Duration duration) override { clock_.advance(duration); }
  void jump_wall(Duration by) override { clock_.set_wall(clock_.wall() + by); }
  Instant wall() override { return clock_.wall(); }

 private:
  TempDir dir_;
  airlock::testing::ManualClock clock_;
  std::shared_ptr<Store> store_ = shm::make_store({.dir = dir_.path()}, clock_);
};

#ifdef AIRLOCK_WITH_REDIS
class RedisStoreUnderTest final : public StoreUnderTest {
 public:
  RedisStoreUnderTest() { airlock::testing::RedisServer::shared().command({"FLUSHALL"}); }

  std::shared_ptr<Store> store() override { return store_; }
  Instant now() override { return clock_.now(); }
  void advance(Duration duration) override { clock_.advance(duration); }
  void jump_wall(Duration by) override { clock_.set_wall(clock_.wall() + by); }
  Instant wall() override { return clock_.wall(); }
  void deliver_calls() override { redis::deliver_messages(*store_); }

 private:
  airlock::testing::ManualClock clock_;
  std::shared_ptr<Store> store_ = airlock::testing::redis_store(clock_);
};
#endif

template <typename Kind>
std::unique_ptr<StoreUnderTest> make() {
  return std::make_unique<Kind>();
}

}  // namespace

std::vector<StoreFactory> all_stores() {
  return {
    {"memory", make<MemoryStoreUnderTest>}, {"shm", make<ShmStoreUnderTest>},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // They make fork() a gamble.
        {"shm_parties", make_shm_parties},
#endif
#ifdef AIRLOCK_WITH_REDIS
        {"redis", make<RedisStoreUnderTest>},
#endif
  };
}

}  // namespace airlock::contract
