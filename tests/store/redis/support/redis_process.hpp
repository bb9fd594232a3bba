#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/address.hpp"

namespace airlock::testing {

// A TCP port that nobody listens on, and that no other test takes while this lives. Clients' own
// ports are elsewhere, so that a server finds it free again after a restart.
class FreePort {
 public:
  FreePort();
  FreePort(FreePort&& other) noexcept;
  FreePort& operator=(FreePort&&) = delete;
  ~FreePort();

  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }
  [[nodiscard]] std::string text() const { return std::to_string(number_); }

 private:
  int reservation_ = -1;
  std::uint16_t number_ = 0;
};

// One process of the program that AIRLOCK_REDIS_SERVER names, else `redis-server`. It ends with
// this, and with the thread that started it.
class RedisProcess {
 public:
  // `address`: where it is to be found. `launcher`: words before the program, such as `env
  // NAME=value`.
  explicit RedisProcess(redis::Address address, std::vector<std::string> launcher = {});
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;
  ~RedisProcess() { kill(); }

  void start(const std::vector<std::string>& options);  // Returns when it answers.
  void kill() noexcept;                                 // As kill -9 does.
  void stop() noexcept;                                 // SIGSTOP
  void go_on() noexcept;                                // SIGCONT

  enum class State { dead, running, stopped };
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool is_running() const noexcept { return state_ == State::running; }
  [[nodiscard]] int pid() const noexcept { return pid_; }
  [[nodiscard]] const redis::Address& address() const noexcept { return address_; }

  // One command; what the server says, errors included, arrays flattened to lines. StoreError: it
  // did not say anything.
  std::string command(const std::vector<std::string>& words,
                      std::chrono::milliseconds timeout = std::chrono::seconds(5)) const;

  // The same from a server that may not be there: empty then.
  std::string try_command(const std::vector<std::string>& words) const;

 private:
  const redis::Address address_;
  const std::vector<std::string> launcher_;
  int pid_ = -1;
  State state_ = State::dead;
};

// Options of a server that keeps nothing on disk but its log, in `folder`, which is made.
[[nodiscard]] std::vector<std::string> forgetful_in(const std::string& folder);

// Asks until it is so. Throws after 20 s, naming what was awaited.
void wait_until(std::string_view what, const std::function<bool()>& condition);

// The lines of a text, and the value behind `name:` in one of those of INFO.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);
[[nodiscard]] std::string value_of(std::string_view name, const std::string& info);

}  // namespace airlock::testing
