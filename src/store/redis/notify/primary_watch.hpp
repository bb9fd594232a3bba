#pragma once

#include <memory>

#include "store/redis/sentinels.hpp"

namespace airlock::redis {

// Learns from the sentinels, where there are any, that another server has become the primary. It only
// makes that quicker: without them it is noticed when the server does not answer. For one thread.
class PrimaryWatch {
 public:
  PrimaryWatch(std::shared_ptr<const Sentinels> sentinels, Duration timeout)
      : sentinels_(std::move(sentinels)), timeout_(timeout) {}

  // Whether there is another primary. Listens to a sentinel, and to another one a while after that
  // has failed.
  [[nodiscard]] bool has_changed();
  void stop() noexcept { connection_.reset(); }

  [[nodiscard]] int fd() const noexcept { return connection_ ? connection_->fd() : -1; }

 private:
  void connect();
  [[nodiscard]] bool hears_of_change();

  const std::shared_ptr<const Sentinels> sentinels_;
  const Duration timeout_;
  std::unique_ptr<Connection> connection_;
  Deadline::Clock::time_point next_attempt_{};
};

}  // namespace airlock::redis
