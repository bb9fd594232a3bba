#include "airlock/testing.hpp"
#include "contract/support/shm_remote_clients.hpp"
#include "contract/support/store_under_test.hpp"
#include "store/shm/shm_store.hpp"
#include "testing/stepped_clock.hpp"
#ifdef AIRLOCK_WITH_REDIS
#include "store/redis/options.hpp"
#include "store/redis/support/cluster.hpp"
#include "store/redis/support/sentinels.hpp"
#include "store/redis/support/server.hpp"
#endif
#include "store/support/temp_dir.hpp"

namespace airlock::contract {
namespace {

class MemoryStoreUnderTest final : public StoreUnderTest {
 public:
  Store store() override { return store_; }
  Instant now() override { return clock_.now(); }
  void advance(Duration duration) override { clock_.advance(duration); }
  void jump_wall(Duration by) override { clock_.set_wall(clock_.wall() + by); }
  Instant wall() override { return clock_.wall(); }

 private:
  airlock::internal::SteppedClock clock_;
  Store store_ = airlock::testing::memory_store(clock_);
};

class ShmStoreUnderTest final : public StoreUnderTest {
 public:
  Store store() override { return store_; }
  Instant now() override { return clock_.now(); }
  void advance(Duration duration) override { clock_.advance(duration); }
  void jump_wall(Duration by) override { clock_.set_wall(clock_.wall() + by); }
  Instant wall() override { return clock_.wall(); }

 private:
  TempDir dir_;
  airlock::internal::SteppedClock clock_;
  Store store_ = shm::make_store({.dir = dir_.path()}, clock_);
};

#ifdef AIRLOCK_WITH_REDIS
class RedisStoreUnderTest final : public StoreUnderTest {
 public:
  RedisStoreUnderTest() { airlock::testing::RedisServer::shared().command({"FLUSHALL"}); }

  Store store() override { return store_; }
  Instant now() override { return clock_.now(); }
  void advance(Duration duration) override { clock_.advance(duration); }
  void jump_wall(Duration by) override { clock_.set_wall(clock_.wall() + by); }
  Instant wall() override { return clock_.wall(); }
  void deliver_calls() override { redis::deliver_messages(store_); }

 private:
  airlock::internal::SteppedClock clock_;
  Store store_ = airlock::testing::redis_store(clock_);
};

// Over several servers, which all tests of a program share.
template <typename Topology>
class TopologyUnderTest final : public StoreUnderTest {
 public:
  Store store() override { return store_; }
  Instant now() override { return clock_.now(); }
  void advance(Duration duration) override { clock_.advance(duration); }
  void jump_wall(Duration by) override { clock_.set_wall(clock_.wall() + by); }
  Instant wall() override { return clock_.wall(); }
  void deliver_calls() override { redis::deliver_messages(store_); }

 private:
  static Store make_store(Clock& clock) {
    static Topology topology;
    const std::string options = "timeout=5s&prefix=" + airlock::testing::unused_prefix();
    redis::Options own = redis::Options::from(Uri::parse(topology.uri(options)));
    own.scripts = &stepped::scripts();
    own.stepped = &clock;
    return redis::make_store(std::move(own));
  }

  airlock::internal::SteppedClock clock_;
  Store store_ = make_store(clock_);
};
#endif

template <typename Kind>
std::unique_ptr<StoreUnderTest> make() {
  return std::make_unique<Kind>();
}

}  // namespace

std::vector<StoreFactory> stores_on_one_server() {
  return {
    {"memory", make<MemoryStoreUnderTest>}, {"shm", make<ShmStoreUnderTest>},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // They make fork() a gamble.
        {"shm_remote_clients", make_shm_remote_clients},
#endif
#ifdef AIRLOCK_WITH_REDIS
        {"redis", make<RedisStoreUnderTest>},
#endif
  };
}

std::vector<StoreFactory> all_stores() {
  std::vector<StoreFactory> stores = stores_on_one_server();
  // Not under sanitizers, for the time it takes: what is different here has tests of its own.
#if defined(AIRLOCK_WITH_REDIS) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  stores.push_back({"sentinel", make<TopologyUnderTest<airlock::testing::RedisSentinels>>});
  stores.push_back({"cluster", make<TopologyUnderTest<airlock::testing::RedisCluster>>});
#endif
  return stores;
}

}  // namespace airlock::contract
