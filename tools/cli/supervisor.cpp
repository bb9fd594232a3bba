#include "supervisor.hpp"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "command.hpp"

namespace airlock::cli {
namespace {

using std::chrono::milliseconds;

// How long processes that were told to stop may take at most, and those that were killed.
constexpr milliseconds kGrace{5'000};

// A command that has ended by then ended at once.
constexpr milliseconds kGuardDelay{10};

// How often it looks where nothing calls: for processes that are to end, and at a lease of whose
// loss it cannot hear.
constexpr milliseconds kLook{20};

// Longer is for ever; sums with it do not overflow.
constexpr Duration kLongestHold = std::chrono::hours(24 * 365 * 100);
constexpr milliseconds kLongestPoll = std::chrono::hours(24);

// A terminal sends its signals to the whole job, so the child has them already.
void pass_on(const signalfd_siginfo& info, const Child& child) {
  const auto signal = static_cast<int>(info.ssi_signo);
  if (signal != SIGCHLD && (info.ssi_code != SI_KERNEL || child.group() != 0)) child.send(signal);
  if (signal == SIGTSTP) stop_self();
}

}  // namespace

void Supervisor::Notify::operator()() const noexcept { eventfd_write(fd, 1); }

Supervisor::Supervisor(const Lease& lease, Signals& signals, Plan plan)
    : lease_(lease),
      signals_(signals),
      plan_(std::move(plan)),
      lost_fd_(Descriptor::checked(eventfd(0, EFD_CLOEXEC), "for the lease")) {
  if (plan_.max_hold < kLongestHold) hold_end_ = Clock::now() + plan_.max_hold;
  if (plan_.guarded) guard_.emplace();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int Supervisor::wait(Child& child) {
  while (true) {
    const bool notified = poll_readable(is_ending() ? -1 : lost_fd_.get(), signals_, next());
    while (const auto info = signals_.next()) pass_on(*info, child);
    const std::optional<int> status = child.status();
    if (is_ending()) {
      if (all_ended(child, status.has_value())) return status.value_or(kLost);
    } else if (status) {
      return *status;
    } else {
      look_after(child, notified);
    }
  }
}

void Supervisor::look_after(const Child& child, bool notified) {
  if (!std::exchange(is_set_up_, true)) start_guard(child);
  if (!on_lost_) listen();
  const bool is_lost = notified || (!on_lost_ && !lease_.valid());
  if (is_lost || is_held_for_long_enough()) begin_to_end(child);
}

bool Supervisor::is_held_for_long_enough() const { return hold_end_ && Clock::now() >= *hold_end_; }

milliseconds Supervisor::next() const {
  if (is_ending() || (is_set_up_ && !on_lost_)) return kLook;
  milliseconds next = is_set_up_ ? milliseconds(-1) : kGuardDelay;
  if (!hold_end_) return next;
  const auto rest = std::chrono::ceil<milliseconds>(*hold_end_ - Clock::now());
  const milliseconds hold = std::clamp(rest, milliseconds(0), kLongestPoll);
  return next.count() < 0 ? hold : std::min(next, hold);
}

void Supervisor::start_guard(const Child& child) {
  if (!guard_) return;
  if (guard_->start({.command = child.pid(), .group = child.group(), .mark = plan_.mark})) return;
  std::cerr << "airlock: no guard could be started: if airlock is killed, processes that the "
               "command has started may stay\n";
}

// Where no thread can be had it is tried again, and the lease is looked at meanwhile.
void Supervisor::listen() {
  try {
    on_lost_.emplace(lease_.lost(), Notify{lost_fd_.get()});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): next() sees to it
  }
}

int Supervisor::signal_all(const Child& child, int signal) const noexcept {
  const ProcessTree tree{.ancestor = getpid(), .except = guard_ ? guard_->pid() : 0};
  const int found = signal_tree(tree, signal);
  if (found < 0 && signal != 0) child.send(signal);
  return found;
}

// It is told first and asked why afterwards: a store that does not answer takes its time.
void Supervisor::begin_to_end(const Child& child) {
  const bool is_over = is_held_for_long_enough();
  (void)signal_all(child, SIGTERM);
  // The slot of a revoked lease moves on after a third of its ttl.
  kill_at_ = Clock::now() + std::min<Duration>(kGrace, plan_.ttl / 4);
  const std::string why = is_over ? "--max-hold " + to_text(plan_.max_hold) + " is over"
                                  : "the lease is lost: " + plan_.why_lost();
  std::cerr << "airlock: " << why << "; the command is told to stop\n";
}

// What cannot be killed, because another user runs it or a device keeps it, is not waited for.
bool Supervisor::all_ended(const Child& child, bool has_ended) {
  const Clock::time_point now = Clock::now();
  const int found = signal_all(child, now >= *kill_at_ ? SIGKILL : 0);
  if (!has_ended) return false;
  if (found > 0 && now >= *kill_at_ + kGrace) {
    std::cerr << "airlock: " << found << " processes of the command cannot be ended\n";
    return true;
  }
  return found <= 0;
}

}  // namespace airlock::cli
