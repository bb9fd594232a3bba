#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "model/support/trial_seed.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/server.hpp"
#include "store/redis/support/shifted_server.hpp"
#include "store/support/storm.hpp"

// Processes at a gate of a Redis server: what is between them and it is unreliable or keeps some of
// them away, it is killed, its clock is set, it ends scripts in the middle.

namespace airlock::storm {

// The scripts as they are, but for commands that are refused when a key says so (support/failing.lua).
[[nodiscard]] const redis::Scripts& scripts() noexcept;

}  // namespace airlock::storm

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;
using Fault = ChaosProxy::Fault;

constexpr Duration kTimeout = 500ms;

// Has a connection before the server is busy.
class Operator {
 public:
  explicit Operator(RedisServer& server)
      : connection_(server.address(), nullptr, "operator", redis::Deadline(10s)) {}

  // Whether the server did it.
  bool command(const std::vector<std::string>& words) {
    redis::Commands commands;
    commands.begin(words.size());
    for (const std::string& word : words) commands.add(word);
    return !connection_.ask(commands, redis::Deadline(10s)).is_error();
  }

 private:
  redis::Connection connection_;
};

class RedisStorm : public ::testing::Test {
 protected:
  // As many rounds as there is time for, one seed each, with one slot and with three.
  template <typename Round>
  void in_rounds(const std::string& scenario, const Round& round) {
    ChaosRow row{.scenario = scenario};
    const std::uint64_t rounds = takes_its_time() ? 60 : 2;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      row += round(StormPlan{.limit = i % 2 == 0 ? 1U : 3U,
                             .ttl = 1s,
                             .timeout = kTimeout,
                             .keeps_order = false,
                             .seed = seed_ + i});
    }
    row.report();
  }

  static auto opener(const redis::Address& address) {
    return [address] { return redis::make_store({.address = address, .timeout = kTimeout}); };
  }

 private:
  const std::uint64_t seed_ = trial::trial_seed();
};

// Replies and messages are lost, slow, in pieces, connections are cut, nothing passes for a while,
// and now and then a client is killed.
TEST_F(RedisStorm, OfLostMessages) {
  in_rounds("lost messages (redis)", [](StormPlan plan) {
    RedisServer server;
    ChaosProxy proxy(server.socket(), server.folder(), plan.seed);
    plan.open = opener(proxy.address());
    Storm storm(plan);
    Instant next{0};
    storm.run(15s, [&] {
      if (storm_now() < next) return;
      next = storm_now() + Duration(20'000 + storm.below(400'000));
      switch (storm.below(8)) {
        case 0:
          return proxy.set(Fault::hold_reply, 100);
        case 1:
          return proxy.set(Fault::hold_request, 100);
        case 2:
          proxy.cut_all();
          return storm.note_fault();
        case 3:
          return storm.kill_one();
        case 4:
          return proxy.set(Fault::none, 100);
        default:
          return proxy.set(Fault::any, static_cast<unsigned>(1 + storm.below(20)));
      }
    });
    proxy.set(Fault::none);
    storm.note_fault(proxy.faults());
    return storm.end("lost messages");
  });
}

// One client or another is not heard, does not hear, or neither, mostly for a moment and sometimes
// longer than its leases last, while all others are well.
TEST_F(RedisStorm, OfClientsThatAreCutOff) {
  in_rounds("partitions (redis)", [](StormPlan plan) {
    constexpr std::array kWays = {ChaosProxy::Way::to_server, ChaosProxy::Way::to_client,
                                  ChaosProxy::Way::both};
    RedisServer server;
    ChaosProxy proxy(server.socket(), server.folder(), plan.seed);
    plan.open = opener(proxy.address());
    plan.long_holds = 20;
    plan.longest_hold = 3s;
    Storm storm(plan);
    Instant next{0};
    storm.run(12s, [&] {
      if (storm_now() < next) return;
      next = storm_now() + Duration(storm.below(300'000));
      const pid_t client = storm.below(2) == 0 ? storm.any() : storm.any_inside();
      const Duration time(storm.below(storm.below(4) == 0 ? 3'000'000 : 300'000));
      proxy.isolate(client, kWays.at(storm.below(kWays.size())), time);
      storm.note_fault();
    });
    proxy.end_isolation();
    return storm.end("partitions");
  });
}

// It writes down everything before it answers, so that nothing is forgotten.
TEST_F(RedisStorm, OfServersThatAreKilled) {
  in_rounds("kill -9 of the server (redis)", [](StormPlan plan) {
    RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
    plan.open = opener(server.address());
    Storm storm(plan);
    Instant next = storm_now() + 300ms;
    storm.run(15s, [&] {
      if (storm_now() < next) return;
      server.kill();
      std::this_thread::sleep_for(std::chrono::milliseconds(storm.below(100)));
      server.start();
      storm.note_fault();
      next = storm_now() + Duration(storm.below(600'000));
    });
    return storm.end("kill -9 of the server");
  });
}

// Back: nothing changes. Forward: leases end early, and those that come after are as good as ever.
TEST_F(RedisStorm, OfClocksThatAreSet) {
  in_rounds("clock steps (redis)", [](StormPlan plan) {
    ShiftedServer shifted;
    plan.open = opener(shifted.server().address());
    Storm storm(plan);
    Instant next{0};
    storm.run(15s, [&] {
      if (storm_now() < next) return;
      next = storm_now() + Duration(storm.below(300'000));
      const Duration by = Duration(storm.below(storm.below(2) == 0 ? 3'600'000'000 : 3'000'000));
      storm.note_fault();
      if (storm.below(2) == 0) return shifted.step(-by);
      storm.forgiving_leases([&] { shifted.step(by); });
    });
    return storm.end("clock steps");
  });
}

// Any command of any script is refused, for everybody, for a moment, or an operator kills a script that takes
// too long.
TEST_F(RedisStorm, OfScriptsThatAreKilled) {
  in_rounds("scripts killed (redis)", [](StormPlan plan) {
    RedisServer server({"--busy-reply-threshold", "5"});
    Operator admin(server);
    plan.open = [address = server.address()] {
      return redis::make_store(
          {.address = address, .timeout = kTimeout, .scripts = &storm::scripts()});
    };
    plan.refuses = true;
    Storm storm(plan);
    Instant next{0};
    storm.run(8s, [&] {
      if (storm_now() < next) return;
      next = storm_now() + Duration(storm.below(30'000));
      storm.note_fault();
      if (storm.below(4) != 0) {
        const std::string at = std::to_string(1 + storm.below(40));
        admin.command({"SET", "fail_at", at, "PX", std::to_string(1 + storm.below(20))});
        return;
      }
      // Before it writes: after that nobody can kill it.
      admin.command({"SET", "spin_at", std::to_string(1 + storm.below(3))});
      while (!admin.command({"SCRIPT", "KILL"})) std::this_thread::sleep_for(1ms);
      while (!admin.command({"DEL", "spin_at"})) admin.command({"SCRIPT", "KILL"});
    });
    return storm.end("scripts killed");
  });
}

// Any right is withdrawn from everybody for a moment.
TEST_F(RedisStorm, OfWithdrawnRights) {
  in_rounds("rights withdrawn (redis)", [](StormPlan plan) {
    constexpr std::array kRights = {"hset",    "hdel",         "hmget",   "hget",   "hscan",
                                    "zadd",    "zrem",         "zcard",   "zrange", "zpopmin",
                                    "zrank",   "unlink",       "pexpire", "time",   "publish",
                                    "evalsha", "zrangebyscore"};
    RedisServer server;
    Operator admin(server);
    plan.open = [address = server.least_address()] {
      return redis::make_store({.address = address, .prefix = "test", .timeout = kTimeout});
    };
    plan.refuses = true;
    Storm storm(plan);
    Instant next{0};
    storm.run(8s, [&] {
      if (storm_now() < next) return;
      next = storm_now() + Duration(storm.below(30'000));
      const std::string right = kRights.at(storm.below(kRights.size()));
      EXPECT_TRUE(admin.command({"ACL", "SETUSER", "least", "-" + right}));
      std::this_thread::sleep_for(std::chrono::milliseconds(storm.below(20)));
      EXPECT_TRUE(admin.command({"ACL", "SETUSER", "least", "+" + right}));
      storm.note_fault();
    });
    return storm.end("rights withdrawn");
  });
}

}  // namespace
}  // namespace airlock::testing
