#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>

#include "lincheck/support/trial.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/chaos_proxy.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/temp_dir.hpp"

// Trials of a Redis store. Who waits is detached: a bound waiter that cannot be told is passed over,
// and here messages are lost.

namespace airlock::lincheck {

inline Trial redis_trial(const std::string& name, std::chrono::milliseconds at_most,
                         std::uint64_t seed) {
  return {.name = name,
          .gates_are_new = true,  // What was lost may arrive when the next history has begun.
          .step = std::chrono::microseconds(200),
          .line_hold = Hold::detached,
          .wall_clock = true,
          .at_most = at_most,
          .seed = seed};
}

// A line of its own to the server, on which replies are lost.
class LossyLine {
 public:
  LossyLine(const std::string& socket, std::string prefix)
      : prefix_(std::move(prefix)), proxy_(socket, dir_.path()) {
    proxy_.set(testing::ChaosProxy::Fault::lose_reply, 5);
  }
  Access access() {
    return {.store = redis::make_store({.address = proxy_.address(), .prefix = prefix_}),
            .connections = [this] { return proxy_.connections(); }};
  }
  [[nodiscard]] std::uint64_t lost() const { return proxy_.faults(); }

 private:
  const std::string prefix_;
  const TempDir dir_;
  testing::ChaosProxy proxy_;
};

inline void check_redis_with_lost_replies(std::chrono::milliseconds at_most, std::uint64_t seed) {
  const testing::RedisServer server;
  const std::string prefix = testing::unused_prefix();
  std::array<std::unique_ptr<LossyLine>, kMaxClients + 1> lines;
  for (auto& line : lines) line = std::make_unique<LossyLine>(server.socket(), prefix);
  Trial trial = redis_trial("redis, replies lost", at_most, seed);
  trial.open = [&](std::uint8_t client) { return lines.at(client)->access(); };
  expect_linearizable(trial, [&] {
    return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const auto& line) { return sum + line->lost(); });
  });
}

inline void check_redis_with_killed_processes(std::chrono::milliseconds at_most,
                                              std::uint64_t seed) {
  const testing::RedisServer server;
  const std::string prefix = testing::unused_prefix();
  Trial trial = redis_trial("redis, processes killed", at_most, seed);
  trial.clients = Trial::Clients::processes;
  trial.open = [&](std::uint8_t) {
    return Access{redis::make_store({.address = server.address(), .prefix = prefix})};
  };
  trial.kills = true;
  expect_linearizable(trial);
}

}  // namespace airlock::lincheck
