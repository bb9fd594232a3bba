#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "store/redis/socket.hpp"
#include "store/redis/support/redis_process.hpp"

namespace airlock::testing {

// A TCP port of this host behind which a server seems to be far away: whatever passes takes half the
// round trip time in each direction.
class SlowLink {
 public:
  SlowLink(redis::Address server, std::chrono::milliseconds round_trip,
           const FreePort& port = FreePort());
  SlowLink(const SlowLink&) = delete;
  SlowLink& operator=(const SlowLink&) = delete;
  ~SlowLink();

  [[nodiscard]] redis::Address address() const { return {.host = "127.0.0.1", .port = port_}; }
  [[nodiscard]] std::string text() const { return address().text(); }

  // For connections from now on.
  void lead_to(const redis::Address& server);

 private:
  using Clock = std::chrono::steady_clock;
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  struct Way {
    int from;
    int to;
    std::deque<Piece> pieces = {};
  };
  struct Pair;

  void run();
  void accept_one();
  bool pass(Way& way, Clock::time_point now, bool readable);

  const std::uint16_t port_;
  const Clock::duration delay_;
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  redis::Address server_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::thread thread_;
};

}  // namespace airlock::testing
