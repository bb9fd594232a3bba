#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "airlock/token.hpp"
#include "base/timed_mutex.hpp"
#include "store/redis/client.hpp"

namespace airlock::redis {

// Which data a store's tokens belong to: a random number that the first client keeps under the
// prefix, `prefix:id:{0}`. Asked for on first use, once for each connection to a server, and by
// recheck(); otherwise it costs no round trip. It lives as long as the data: a failover keeps it,
// FLUSHALL makes another.
//
// In a cluster the number has copies in other slots, written before the number itself, so that a
// process can start while the server with the number is down. Safe to use from any thread.
class Identity {
 public:
  Identity(Client& client, const Options& options) : client_(client), options_(options) {}

  // StoreError, and nothing has happened: it is not known yet, and nobody says.
  [[nodiscard]] StoreId get(const Deadline& deadline);

  // Whether a token with this id is of these data, or was when this process got it.
  [[nodiscard]] bool knows(StoreId id, const Deadline& deadline);

  // For a caller that has not found what should be there: perhaps the data are others.
  void recheck(const Deadline& deadline);

 private:
  [[nodiscard]] bool is_fresh();
  [[nodiscard]] StoreId learn(const Deadline& deadline);
  [[nodiscard]] StoreId read_or_make(const Deadline& deadline);
  [[nodiscard]] std::optional<StoreId> read_copy(const Deadline& deadline);
  void write_copies(StoreId id, const Deadline& deadline);
  [[nodiscard]] Call call(std::size_t copy, const std::string& number, bool replaces) const;
  void take(StoreId id) AIRLOCK_REQUIRES(mutex_);

  Client& client_;
  const Options& options_;

  std::atomic<StoreId> id_ = 0;                 // 0: not known yet.
  std::atomic<std::uint64_t> connections_ = 0;  // When it was last asked for.

  base::TimedMutex mutex_;
  std::vector<StoreId> earlier_ AIRLOCK_GUARDED_BY(mutex_);
  // After it could not be asked for again.
  Deadline::Clock::time_point rests_until_ AIRLOCK_GUARDED_BY(mutex_){};
};

}  // namespace airlock::redis
