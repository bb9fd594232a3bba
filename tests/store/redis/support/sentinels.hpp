#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "store/redis/support/redis_process.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock::testing {

struct SentinelsOptions {
  std::string password = {};           // Of the servers.
  std::string sentinel_password = {};  // Of the sentinels.
  // Where they listen and how they are started; a namespace of their own may be in between.
  std::array<std::string, 3> hosts = {"127.0.0.1", "127.0.0.1", "127.0.0.1"};
  std::vector<std::string> launcher = {};
};

// How a primary is lost.
enum class Loss { killed, stopped };

// A primary, two replicas and three sentinels that agree; all real, and gone with this. They notice
// a lost primary after 600 ms. Kills, starts and failovers are for one thread, which must outlive
// them.
class RedisSentinels {
 public:
  explicit RedisSentinels(SentinelsOptions options = {});

  // Returns when both replicas are in sync and every sentinel that runs knows of everything.
  void wait_until_ready();

  // `options`: as in a store URI, `timeout=1s&prefix=x`.
  [[nodiscard]] std::string uri(const std::string& options = "") const;

  [[nodiscard]] RedisProcess& server(std::size_t i) { return *servers_.at(i); }
  [[nodiscard]] RedisProcess& sentinel(std::size_t i) { return *sentinels_.at(i); }
  [[nodiscard]] std::size_t primary();  // Which server says that it is.
  [[nodiscard]] std::vector<std::size_t> replicas();

  // Ends or stops the primary and returns when the sentinels have another one: when it says that it
  // is, and a sentinel that it is the one.
  struct Failover {
    std::size_t before;
    std::size_t after;
    std::chrono::steady_clock::time_point began;
    std::chrono::milliseconds outage;
  };
  Failover fail_over(Loss loss) { return fail_over(primary(), loss); }
  Failover fail_over(std::size_t primary, Loss loss);

  // Servers that are dead or stopped come back as replicas, stopped sentinels go on. Returns when
  // everything is ready.
  void bring_back();

 private:
  static constexpr std::size_t kEach = 3;

  [[nodiscard]] redis::Address address(const std::string& host, const FreePort& port,
                                       const std::string& password) const;
  void start_server(std::size_t i, const std::vector<std::string>& role);
  void start_sentinel(std::size_t i);
  [[nodiscard]] bool is_primary(std::size_t i) const;
  [[nodiscard]] std::size_t agreed_primary();
  [[nodiscard]] bool names(const RedisProcess& sentinel, std::size_t i) const;
  [[nodiscard]] bool is_replicated();
  [[nodiscard]] bool is_content(const RedisProcess& sentinel, std::size_t primary) const;
  [[nodiscard]] std::vector<std::string> replica_of(std::size_t primary) const;

  const SentinelsOptions options_;
  const TempDir dir_;
  const std::array<FreePort, 2 * kEach> ports_;
  std::vector<std::unique_ptr<RedisProcess>> servers_;
  std::vector<std::unique_ptr<RedisProcess>> sentinels_;
};

}  // namespace airlock::testing
