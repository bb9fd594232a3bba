#include "room/room_state.hpp"

#include "room/stream_rounds.hpp"

namespace airlock::server {

RoomState::RoomState() = default;
RoomState::~RoomState() = default;

StreamRounds& RoomState::rounds(Api& api, Loop& loop) {
  const std::scoped_lock lock(mutex_);
  auto& rounds = rounds_[&loop];
  if (rounds == nullptr) rounds = std::make_unique<StreamRounds>(api, loop);
  return *rounds;
}

}  // namespace airlock::server
