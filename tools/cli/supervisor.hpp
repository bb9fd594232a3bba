#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "airlock/lease.hpp"
#include "child.hpp"
#include "guard.hpp"
#include "process_tree.hpp"
#include "signals.hpp"

namespace airlock::cli {

// Looks after a command until it has ended: passes signals on, and ends all of its processes when
// the lease is lost or was held for long enough, with TERM and after a grace with KILL. A guard
// kills them if airlock itself is killed.
//
// Hearing of a loss takes threads, and the guard is a process: a command that ends at once is
// spared both.
class Supervisor {
 public:
  struct Plan {
    Duration ttl{0};               // After a revocation a third of it is left.
    Duration max_hold = kForever;  // From now on. The lease is renewed until all have ended.
    bool guarded = true;           // Its processes end with airlock.
    std::string mark = {};         // What their environment contains.
    std::function<std::string()> why_lost = {};  // For the message.
  };

  // Makes this process the one that orphans of the command are handed to. Exit with 71 without
  // descriptors.
  Supervisor(const Lease& lease, Signals& signals, Plan plan);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor() = default;

  // The status of the child; if the lease was lost, when all of its processes have ended.
  [[nodiscard]] int wait(Child& child);

  // Whether it had to end: the lease was lost, or max_hold is over.
  [[nodiscard]] bool is_ending() const noexcept { return kill_at_.has_value(); }

 private:
  struct Notify {
    int fd;
    void operator()() const noexcept;
  };
  using Clock = std::chrono::steady_clock;

  void look_after(const Child& child, bool notified);
  void start_guard(const Child& child);
  void listen();
  [[nodiscard]] std::chrono::milliseconds next() const;
  [[nodiscard]] bool is_held_for_long_enough() const;
  void begin_to_end(const Child& child);
  [[nodiscard]] bool all_ended(const Child& child, bool has_ended);
  [[nodiscard]] int signal_all(const Child& child, int signal) const noexcept;

  const Lease& lease_;
  Signals& signals_;
  Plan plan_;
  std::optional<Clock::time_point> hold_end_;
  Descriptor lost_fd_;
  std::optional<Guard> guard_;
  std::optional<std::stop_callback<Notify>> on_lost_;
  bool is_set_up_ = false;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace airlock::cli
