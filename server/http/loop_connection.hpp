#pragma once

#include <chrono>
#include <memory>

namespace airlock::server {

// A connection as its loop sees it, whatever it speaks.
class LoopConnection {
 public:
  LoopConnection() = default;
  LoopConnection(const LoopConnection&) = delete;
  LoopConnection& operator=(const LoopConnection&) = delete;
  virtual ~LoopConnection() = default;

  virtual void tick(std::chrono::steady_clock::time_point now) = 0;  // Ends what takes too long.
  virtual void drain() = 0;  // The server ends: called again and again until it is closed.
  [[nodiscard]] virtual std::shared_ptr<LoopConnection> shared() = 0;
};

}  // namespace airlock::server
