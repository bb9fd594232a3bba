#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "room/room_stream.hpp"

namespace airlock::server {

// The streams of one loop. Once a second each line is looked at once, for all of its streams that are due.
class StreamRounds {
 public:
  StreamRounds(Api& api, Loop& loop);

  void add(const std::shared_ptr<RoomStream>& stream);

 private:
  using Clock = RoomStream::Clock;
  using Streams = std::vector<std::weak_ptr<RoomStream>>;

  struct Line {
    std::shared_ptr<Board> board;
    Streams streams = {};
    bool is_looked_at = false;
  };

  void begin_round();
  void end_round();
  void look(Line& line, const std::string& gate);
  void push(const std::string& gate, const LineViewPtr& view);
  [[nodiscard]] static bool is_due(Line& line, Clock::time_point now);

  Api& api_;
  Loop& loop_;
  boost::asio::steady_timer timer_;
  bool is_running_ = false;
  std::unordered_map<std::string, Line> lines_;
};

}  // namespace airlock::server
