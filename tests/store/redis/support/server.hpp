#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/redis_store.hpp"
#include "store/redis/support/redis_process.hpp"
#include "store/redis/support/stepped_redis_store.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock::testing {

// A redis-server of one's own, on a Unix socket in a folder of its own; both end with this.
class RedisServer {
 public:
  // `launcher`: words before the program, such as `env NAME=value`.
  explicit RedisServer(std::vector<std::string> options = {},
                       std::vector<std::string> launcher = {});
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  // The one that all tests of a program may share.
  [[nodiscard]] static RedisServer& shared();

  [[nodiscard]] std::string folder() const { return dir_.path(); }
  [[nodiscard]] std::string socket() const { return folder() + "/redis.sock"; }
  [[nodiscard]] std::string uri() const { return "redis+unix://" + socket(); }
  [[nodiscard]] redis::Address address() const { return {.path = socket()}; }
  // The same, for a user with the least rights that docs/stores.md tells, and keys that begin with
  // `test`.
  [[nodiscard]] redis::Address least_address();
  static constexpr std::string_view kLeastRights =
      "-@all +evalsha +eval +scan +publish +subscribe +ping +client|setname +info +select +time "
      "+hmget +hget +hset +hdel +hscan +unlink +persist +pexpire +zadd +zrem +zrange "
      "+zrangebyscore +zrank +zcount +zcard +zpopmin +zscan";

  [[nodiscard]] int pid() const noexcept { return process_.pid(); }

  // One command; what the server says, arrays flattened to lines.
  std::string command(const std::vector<std::string>& words) { return process_.command(words); }

  void kill() { process_.kill(); }  // As kill -9 does.
  void start();                     // Again, empty.

 private:
  const std::vector<std::string> options_;
  const TempDir dir_;
  RedisProcess process_;
};

// A prefix that no other store of this server has.
[[nodiscard]] std::string unused_prefix();

}  // namespace airlock::testing

namespace airlock::stepped {

// The scripts with a time that tests step. Where AIRLOCK_COUNT_BRANCHES is set they log which
// branches they took (support/count_branches.py).
[[nodiscard]] const redis::Scripts& scripts() noexcept;
// Such that one of their commands fails (support/failing.lua).
[[nodiscard]] const redis::Scripts& failing_scripts() noexcept;
// Without the fast paths.
[[nodiscard]] const redis::Scripts& slow_scripts() noexcept;

}  // namespace airlock::stepped
