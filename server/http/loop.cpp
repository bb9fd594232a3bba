#include "loop.hpp"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "loop_connection.hpp"

namespace airlock::server {

Loop::Loop(Shared& shared, std::shared_ptr<const Config> config)
    : shared_(shared),
      config_(std::move(config)),
      work_(context_.get_executor()),
      timer_(context_) {
  shared_.operations.tallies.add(tally_);
}

Loop::~Loop() { shared_.operations.tallies.remove(tally_); }

void Loop::run() {
  pthread_setname_np(pthread_self(), "airlock-loop");
  tick();
  context_.run();
}

void Loop::post(std::function<void()> work) { boost::asio::post(context_, std::move(work)); }

void Loop::add(LoopConnection& connection) {
  connections_.insert(&connection);
  ++shared_.connections;
}

void Loop::remove(LoopConnection& connection) {
  if (connections_.erase(&connection) != 0) --shared_.connections;
}

// What is visited may remove itself.
template <typename Visit>
void Loop::for_each_connection(Visit visit) {
  std::vector<std::shared_ptr<LoopConnection>> all;
  all.reserve(connections_.size());
  for (LoopConnection* const connection : connections_) all.push_back(connection->shared());
  for (const auto& connection : all) visit(*connection);
}

void Loop::drain() {
  for_each_connection([](LoopConnection& connection) { connection.drain(); });
}

void Loop::tick() {
  const auto now = std::chrono::steady_clock::now();
  ticked_at_ = now;
  for_each_connection([now](LoopConnection& connection) { connection.tick(now); });
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

std::string_view Loop::date() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (now != date_second_) {
    date_second_ = now;
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 40> text{};
    date_.assign(text.data(),
                 std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts));
  }
  return date_;
}

}  // namespace airlock::server
