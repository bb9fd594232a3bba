#include "room/stream_rounds.hpp"

#include <algorithm>

#include "airlock/error.hpp"
#include "http/loop.hpp"

namespace airlock::server {
namespace {

constexpr auto kRound = std::chrono::seconds(1);

}  // namespace

StreamRounds::StreamRounds(Api& api, Loop& loop) : api_(api), loop_(loop), timer_(loop.context()) {}

void StreamRounds::add(const std::shared_ptr<RoomStream>& stream) {
  Line& line = lines_[stream->call().gate.text()];
  line.board = stream->call().board;
  line.streams.push_back(stream);
  if (!is_running_) end_round();
}

void StreamRounds::end_round() {
  is_running_ = !lines_.empty();
  if (!is_running_) return;
  timer_.expires_after(kRound);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) begin_round();
  });
}

void StreamRounds::begin_round() {
  const auto now = Clock::now();
  for (auto& [gate, line] : lines_) {
    std::erase_if(line.streams, [](const auto& stream) { return stream.expired(); });
    if (is_due(line, now) && !line.is_looked_at) look(line, gate);
  }
  std::erase_if(lines_, [](const auto& each) {
    return each.second.streams.empty() && !each.second.is_looked_at;
  });
  end_round();
}

// Every stream is asked: it may have to ask the store itself.
bool StreamRounds::is_due(Line& line, Clock::time_point now) {
  bool is_due = false;
  for (const auto& weak : line.streams) {
    const auto stream = weak.lock();
    if (stream != nullptr && stream->is_due(now)) is_due = true;
  }
  return is_due;
}

void StreamRounds::look(Line& line, const std::string& gate) {
  line.is_looked_at = true;
  const auto view = std::make_shared<LineViewPtr>();
  api_.steps.run(
      loop_,
      [&store = api_.store, board = line.board, view] {
        try {
          *view = board->view(store);
        } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the next round looks again
        }
      },
      [this, gate, view] { push(gate, *view); });
}

void StreamRounds::push(const std::string& gate, const LineViewPtr& view) {
  const auto found = lines_.find(gate);
  if (found == lines_.end()) return;
  found->second.is_looked_at = false;
  if (view == nullptr) return;
  const auto now = Clock::now();
  const Streams streams = found->second.streams;  // A push may end one, or begin another.
  for (const auto& weak : streams) {
    const auto stream = weak.lock();
    if (stream != nullptr) stream->on_view(*view, now);
  }
}

}  // namespace airlock::server
