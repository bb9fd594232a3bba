#include "lincheck/support/crew.hpp"

#include <sched.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): timers are POSIX
#include <sys/wait.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): timers are POSIX
#include <unistd.h>

#include <random>
#include <utility>

#include "base/futex.hpp"

namespace airlock::lincheck {
namespace {

using namespace std::chrono_literals;

// Kills this process after a while, wherever it is then; not any more when this ends.
class Bomb {
 public:
  explicit Bomb(std::chrono::nanoseconds after) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    timer_create(CLOCK_MONOTONIC, &event, &timer_);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(after);
    const itimerspec when{.it_interval = {},
                          .it_value = {.tv_sec = seconds.count(),
                                       .tv_nsec = 1 + (after - seconds).count() % 999'999'999}};
    timer_settime(timer_, 0, &when, nullptr);
  }
  Bomb(const Bomb&) = delete;
  Bomb& operator=(const Bomb&) = delete;
  ~Bomb() { timer_delete(timer_); }

 private:
  timer_t timer_{};
};

}  // namespace

Crew::Crew(bool processes, Open open) : processes_(processes), open_(std::move(open)) {
  for (std::uint8_t client = 0; client < kMaxClients; ++client) start(client);
}

Crew::~Crew() {
  board_->round = kEnd;
  base::futex_wake(board_->round, kMaxClients);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Crew::start(std::uint8_t client) {
  const std::uint32_t round = board_->round;
  if (processes_) {
    children_[client] = Child([=, this] { work(client, round); });
  } else {
    threads_[client] = std::thread([=, this] { work(client, round); });
  }
}

void Crew::work(std::uint8_t client, std::uint32_t round) {
  const Access access = open_(client);
  while (true) {
    while (board_->round == round) base::futex_wait(board_->round, round, 1s);
    round = board_->round;
    if (round == kEnd) return;
    if (processes_) alarm(900);  // Nothing is left behind if the test itself dies.
    if (client < board_->plan.clients) take_part(access, client);
    board_->done[client] = round;
  }
}

void Crew::take_part(const Access& access, std::uint8_t client) {
  const Plan& plan = board_->plan;
  ++board_->arrived;
  while (board_->arrived < plan.clients) sched_yield();
  Client worker(access, plan, client, board_->rings[client]);
  if ((plan.victims >> client & 1) != 0) {
    std::mt19937_64 random(plan.seed + client);
    const auto most =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(plan.killed_within).count());
    const Bomb bomb(std::chrono::nanoseconds(random() % most));
    worker.run();
  } else {
    worker.run();
  }
}

void Crew::carry_out(const Plan& plan) {
  for (Ring& ring : board_->rings) ring.clear();
  killed_ = {};
  board_->plan = plan;
  board_->arrived = 0;
  ++board_->round;
  base::futex_wake(board_->round, kMaxClients);
  // Also of those who have no part: until they have seen that, the plan must not change.
  for (std::uint8_t client = 0; client < kMaxClients; ++client) await_end(client);
}

void Crew::await_end(std::uint8_t client) {
  while (board_->done[client] != board_->round) {
    if (processes_ && is_dead(client)) return start(client);
    std::this_thread::sleep_for(20us);
  }
}

bool Crew::is_dead(std::uint8_t client) {
  siginfo_t info{};
  const auto pid = static_cast<id_t>(children_[client].pid());
  if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return false;
  if (info.si_code != CLD_KILLED || info.si_status != SIGKILL) {
    wrong_ = "client " + std::to_string(client) + " ended by itself";
  }
  (void)children_[client].wait();
  killed_[client] = true;
  return true;
}

}  // namespace airlock::lincheck
