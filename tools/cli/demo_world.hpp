#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "airlock/store.hpp"

// What the demo plays with: a fragile thing that many processes want, all of them real.

namespace airlock::cli::demo {

inline constexpr std::uint32_t kWorkers = 50;
inline constexpr std::uint32_t kLimit = 10;
inline constexpr const char* kGate = "fragile";
inline constexpr std::chrono::milliseconds kCallTime{40};

// Seen by all processes of the demo.
struct Board {
  std::atomic<bool> guarded = false;  // Whether the workers go through the bulkhead.
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> succeeded = 0;
  std::atomic<std::uint64_t> failed = 0;
  std::atomic<std::uint64_t> turned_away = 0;
  std::atomic<std::uint32_t> falls = 0;
  std::array<std::atomic<bool>, kWorkers> calling = {};  // Who is in the middle of a call.

  [[nodiscard]] std::uint32_t in_flight() const;
};

// The dependency: answers after a while, and falls over when more than kLimit call at once.
// Somebody sets it up again half a second later.
class Dependency {
 public:
  explicit Dependency(Board& board);
  Dependency(const Dependency&) = delete;
  Dependency& operator=(const Dependency&) = delete;
  ~Dependency();

  void look_after();  // Call it often: sets it up again.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  void start();

  Board& board_;
  std::string address_;
  pid_t pid_ = 0;
  std::chrono::steady_clock::time_point restart_at_;
};

// kWorkers processes that call it again and again.
class Workers {
 public:
  Workers(Board& board, const Dependency& dependency, const std::string& store_uri);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  // Kills one that is inside, as the kernel would. Its pid.
  pid_t kill_one();

 private:
  Board& board_;
  std::array<pid_t, kWorkers> pids_ = {};
};

// A board in memory that forked children share.
struct Unmap {
  void operator()(Board* board) const noexcept;
};
[[nodiscard]] std::unique_ptr<Board, Unmap> make_board();

}  // namespace airlock::cli::demo
