#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "airlock/store.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/any_clock.hpp"
#include "support/paths.hpp"

namespace airlock::testing {

// How long scripts keep a server from everybody else, at a gate with many visits. The server runs with
// preload/processor_clock.cpp, so its percentiles are of processor time. The first run of a script, which
// compiles it, is an EVAL and does not count.
//
// The mean is required to be short: a script that goes over everybody exceeds it. p99.9 is only printed: where a
// processor is shared and its caches are cold, it is that of the machine.
class ScriptTimes {
 public:
  explicit ScriptTimes(std::uint32_t many);

  [[nodiscard]] std::uint32_t many() const noexcept { return many_; }
  [[nodiscard]] const Store& store() const noexcept { return store_; }
  [[nodiscard]] RedisServer& server() noexcept { return server_; }
  [[nodiscard]] AnyClock& clock() noexcept { return clock_; }

  [[nodiscard]] static Request ask(std::uint32_t limit, Duration ttl);
  Token enters(std::uint32_t limit, Duration ttl);
  VisitorId waits(std::uint32_t limit, Duration patience, Order order = Order::fifo);

  // Prints a row of the table. The test fails if the scripts of these steps took 1 ms or more: at p99.9 if
  // nobody else used the machine before, else on average.
  void measure(const std::string& what, const std::function<void()>& steps);

  // Each measures the scripts that meet the many, and what everybody else does meanwhile.
  void at_a_gate_with_holders();
  void at_a_gate_with_waiters(Order order);
  void where_holders_have_expired();
  void where_waiters_have_expired(Order order);
  void where_all_are_handed_a_slot();
  void where_all_are_revoked_repaired_and_purged();

 private:
  // What only reads, and what operators do.
  void measure_reads(const std::string& where);

  const std::uint32_t many_;
  AnyClock clock_;
  RedisServer server_{{"--latency-tracking-info-percentiles", "5 50 99.9"},
                      {"env", "LD_PRELOAD=" + processor_clock()}};
  const Store store_ = redis::make_store({.address = server_.address(),
                                          .prefix = "test",
                                          .timeout = std::chrono::minutes(1),
                                          .scripts = &stepped::scripts(),
                                          .stepped = &clock_});
};

}  // namespace airlock::testing
