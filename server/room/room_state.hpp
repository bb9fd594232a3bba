#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "room/board.hpp"
#include "room/sessions.hpp"

namespace airlock::server {

class Loop;
class StreamRounds;
struct Api;

// What the waiting rooms of a server share. Any thread.
class RoomState {
 public:
  RoomState();
  RoomState(const RoomState&) = delete;
  RoomState& operator=(const RoomState&) = delete;
  ~RoomState();  // After the loops have stopped.

  [[nodiscard]] Boards& boards() noexcept { return boards_; }
  [[nodiscard]] Sessions& sessions() noexcept { return sessions_; }

  // The streams of the loop that calls.
  [[nodiscard]] StreamRounds& rounds(Api& api, Loop& loop);

 private:
  Boards boards_;
  Sessions sessions_;
  std::mutex mutex_;
  std::unordered_map<Loop*, std::unique_ptr<StreamRounds>> rounds_;
};

}  // namespace airlock::server
