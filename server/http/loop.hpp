#pragma once

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "operations/operations.hpp"

namespace airlock::server {

class LoopConnection;
struct Config;

// What all loops of a server share.
struct Shared {
  std::atomic<std::size_t> connections = 0;
  std::atomic<bool> is_draining = false;
  Operations operations;
};

// One event loop: a thread, and the connections that it was given. Everything but post() is called on that thread.
class Loop {
 public:
  Loop(Shared& shared, std::shared_ptr<const Config> config);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }
  [[nodiscard]] Shared& shared() noexcept { return shared_; }
  [[nodiscard]] RequestTally& tally() noexcept { return tally_; }

  // Of the requests that begin now. It may be replaced while one runs.
  [[nodiscard]] const Config& config() const noexcept { return *config_; }
  [[nodiscard]] const std::shared_ptr<const Config>& config_pointer() const noexcept {
    return config_;
  }
  void set_config(std::shared_ptr<const Config> config) { config_ = std::move(config); }

  // Runs until stop().
  void run();
  void stop() { context_.stop(); }

  // Runs `work` on the loop, later. From any thread.
  void post(std::function<void()> work);

  void add(LoopConnection& connection);
  void remove(LoopConnection& connection);

  // Whether it has run what it had to do at some time after `since`. From any thread.
  [[nodiscard]] bool has_run_since(std::chrono::steady_clock::time_point since) const noexcept {
    return ticked_at_.load() >= since;
  }

  // Ends what is idle, streams or waits, and after that each connection once its answer is written.
  void drain();

  [[nodiscard]] std::string_view date();  // For the Date field; of this second.
  [[nodiscard]] std::array<char, 65'536>& scratch() noexcept { return scratch_; }

 private:
  void tick();
  template <typename Visit>
  void for_each_connection(Visit visit);

  static constexpr auto kTick = std::chrono::milliseconds(250);

  Shared& shared_;
  RequestTally tally_;
  std::atomic<std::chrono::steady_clock::time_point> ticked_at_ = std::chrono::steady_clock::now();
  std::shared_ptr<const Config> config_;
  std::unordered_set<LoopConnection*> connections_;
  std::chrono::sys_seconds date_second_{};
  std::string date_;
  // What is read goes through here, so that idle connections need no buffer.
  std::array<char, 65'536> scratch_;
  // Behind what connections use: it owns them, and ends before that.
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
};

}  // namespace airlock::server
