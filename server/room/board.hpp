#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "airlock/store.hpp"
#include "airlock/token.hpp"
#include "room/wait_estimate.hpp"

namespace airlock::server {

// The line of a gate as it was a moment ago, for everybody who waits there.
struct LineView {
  struct Spot {
    std::uint32_t position = 0;  // 1: next. Those who are absent do not count.
    Duration waited{0};
    bool present = true;
  };

  std::unordered_map<VisitorId, Spot> spots = {};
  std::uint32_t waiting = 0;
  bool is_paused = false;  // Not by the room itself, before it opens.
  std::chrono::steady_clock::time_point shut_until = {};  // By the room itself.
  Pace pace = {};
};

using LineViewPtr = std::shared_ptr<const LineView>;

// What the pause until a room opens is called in the store.
inline constexpr std::string_view kOpeningReporter = "room-opening";

// Looks at a gate for all who want to know, at most once a second, and seldom where that takes long. Any thread.
class Board {
 public:
  explicit Board(const GateName& gate) : gate_(gate) {}

  // Asks the store where the last view is too old. StoreError.
  [[nodiscard]] LineViewPtr view(const Store& store);

  // What the store said of a wait. It counts until the pace has been seen.
  void note(Duration eta, std::uint32_t position);

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] LineViewPtr looked(const Store& store);
  [[nodiscard]] Pace pace() const;

  const GateName gate_;
  std::mutex looking_;  // Held by the thread that asks the store.
  std::mutex mutex_;    // Guards what follows.
  LineViewPtr view_;
  Clock::time_point next_look_{};
  PaceMeter meter_;
  Duration store_interval_{0};
};

// The boards of all rooms. Those that nobody has asked for are dropped when there are many.
class Boards {
 public:
  [[nodiscard]] std::shared_ptr<Board> at(const GateName& gate);

 private:
  static constexpr std::size_t kMax = 1'024;

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Board>> boards_;
};

}  // namespace airlock::server
