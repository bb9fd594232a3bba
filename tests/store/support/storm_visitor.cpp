#include "store/support/storm_visitor.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGCHLD is POSIX
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "airlock/error.hpp"
#include "seal/steps.hpp"
#include "store/support/cpu_wait.hpp"

namespace airlock::testing {

using namespace std::chrono_literals;

namespace {

// No fault of a storm explains that.
bool needs_an_operator(const Error& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const StoreError& cause) {
    return cause.kind() == StoreError::Kind::incompatible;
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

}  // namespace

// Hears when its visitor has a place in the line.
class StormVisitor::WakeChannel final : public Observer {
 public:
  void on(const Event& event) override {
    if (event.kind == Event::Kind::queued) queued_ = storm_now();
  }
  void forget() { queued_ = kForever; }
  [[nodiscard]] Instant queued() const { return queued_; }

 private:
  Instant queued_ = kForever;
};

// One call with a deadline, and what its process was put through meanwhile.
class StormVisitor::Call {
 public:
  // It waits no longer than it said, but may ask once for as long as a store may take.
  static constexpr Duration kSlack = 50ms;

  Call(const StormVisitor& visitor, Duration max_wait)
      : visitor_(visitor), due_(storm_now() + std::max(max_wait, visitor.plan_.timeout) + kSlack) {
    seat_.due = due_;
  }

  // What it was kept from running is not its own doing.
  void end() {
    seat_.due = Instant(0);
    ended_ = storm_now();
    kept_ = visitor_.kept_from_running() - kept_before_;
    while (seat_.stops % 2 != 0) usleep(100);
    if (ended_ - kept_ - (seat_.stopped.load() - stopped_) > due_) ++board_.late;
  }

  [[nodiscard]] Instant ended() const { return ended_; }
  // It could have claimed a slot that was handed over to it within this time.
  [[nodiscard]] bool was_awake(Duration within) const {
    return long_stops_ == seat_.long_stops && blocked_ == board_.blocked && kept_ < within / 2;
  }

 private:
  const StormVisitor& visitor_;
  StormBoard& board_ = visitor_.board_;
  StormBoard::Seat& seat_ = *visitor_.seat_;
  const Instant due_;
  const Duration stopped_ = seat_.stopped;
  const std::uint32_t long_stops_ = seat_.long_stops;
  const std::uint32_t blocked_ = board_.blocked;
  const Duration kept_before_ = visitor_.kept_from_running();
  Instant ended_{0};
  Duration kept_{0};
};

StormVisitor::StormVisitor(const StormPlan& plan, StormBoard& board, StormBoard::Seat& seat,
                           std::uint64_t seed)
    : plan_(plan),
      board_(board),
      seat_(&seat),
      random_(seed),
      ear_(std::make_shared<WakeChannel>()),
      airlock_(plan.open(), "gate",
               {.limit = plan.limit,
                .ttl = plan.ttl,
                .patience = plan.patience,
                .claim_window = plan.claim_window,
                .observer = ear_}) {}

void StormVisitor::run() {
  signal(SIGCHLD, SIG_IGN);
  // Forks whatever the visitor is doing: waiting most of the time.
  std::jthread forks;
  if (plan_.forks) {
    forks = std::jthread([this, random = std::mt19937_64(random_())]() mutable {
      while (!board_.ending) {
        usleep(static_cast<useconds_t>(random() % 20'000));
        fork_began_ = storm_now();
        fork_now(random(), nullptr);
        forked_ = forked_.load() + (storm_now() - fork_began_.load());
        fork_began_ = Instant(0);
      }
    });
  }
  while (!board_.ending) visit();
}

// A fork waits in the kernel for the forks of others, and meanwhile no thread of its process can
// write to memory.
Duration StormVisitor::kept_from_running() const {
  const Instant fork_began = fork_began_;
  const Duration forks = fork_began == Instant(0) ? Duration(0) : storm_now() - fork_began;
  return std::chrono::duration_cast<Duration>(cpu_wait()) + forked_.load() + forks;
}

void StormVisitor::visit() {
  // Mostly it waits as long as it takes, now and then not at all, or too short a time.
  const std::uint64_t kind = below(8);
  const Duration max_wait = kind == 0   ? 0ms
                            : kind == 1 ? Duration(below(50'000))
                                        : Duration(plan_.max_wait);
  ear_->forget();
  const Instant asked = storm_now();
  seat_->asked = asked;
  Call call(*this, max_wait);
  ++board_.visits;
  try {
    Outcome<Lease> lease = airlock_.try_enter_for(max_wait);
    call.end();
    if (lease) return come_in(*lease, asked, call);
    if (kind > 1) ++board_.in_vain;
  } catch (const Error& error) {
    call.end();
    ++board_.failures;
    if (!plan_.refuses && needs_an_operator(error)) ++board_.broken;
    usleep(static_cast<useconds_t>(1'000 + below(10'000)));
  }
}

void StormVisitor::come_in(Lease& lease, Instant asked, const Call& call) {
  board_.last_entry = call.ended();
  const bool keeps_place = plan_.keeps_order && call.was_awake(plan_.claim_window);
  if (keeps_place) ++board_.compared;
  board_.note({.asked = asked,
               .settled = keeps_place ? std::min(ear_->queued(), call.ended()) : call.ended(),
               .fence = lease.fence()});
  hold(lease);
  leave(lease);
}

void StormVisitor::hold(Lease& lease) {
  const bool is_long = below(plan_.long_holds) == 0;
  const Duration time(
      below(is_long ? static_cast<std::uint64_t>(plan_.longest_hold.count()) : 2'000));
  const Instant end = storm_now() + time;
  const bool forks = plan_.forks && below(4) == 0;
  for (bool first = true;; first = false) {
    const Instant before = storm_now();
    const Duration remaining = lease.remaining();
    seat_->inside_until = before + remaining;
    if (first && board_.is_over(plan_.limit)) ++board_.too_many;
    if (first && forks) fork_now(random_(), &lease);
    if (remaining == Duration(0) || storm_now() >= end || board_.ending) break;
    usleep(1'000);
  }
  seat_->inside_until = Instant(0);
}

void StormVisitor::leave(Lease& lease) {
  const Instant before = storm_now();
  const Instant ends = before + lease.remaining();
  try {
    lease.release();
  } catch (const SealReleasingError& error) {
    const bool gone = !seal::is_store_failure(error);
    const bool believed = seat_->asked.load() > board_.believed_since.load();
    if (gone && believed && storm_now() < ends) ++board_.gone;
    if (!gone) ++board_.failures;
  }
}

void StormVisitor::fork_now(std::uint64_t seed, Lease* parents) {
  StormBoard::Seat* const seat = board_.take_seat(plan_.workers);
  if (seat == nullptr) return;
  const pid_t pid = fork();
  if (pid == 0) be_child(*seat, seed, parents);
  if (pid < 0) seat->pid = 0;
  ++board_.forks;
}

// Tries to give back what is its parent's, then comes and goes by itself. Some live on.
void StormVisitor::be_child(StormBoard::Seat& seat, std::uint64_t seed, Lease* parents) {
  alarm(100);
  fork_began_ = Instant(0);
  seat_ = &seat;
  random_.seed(seed);
  seat.pid = getpid();
  seat.stays = false;
  seat.due = Instant(0);
  seat.inside_until = Instant(0);
  seat.lives = true;
  if (parents != nullptr) {
    if (parents->valid()) ++board_.gone;
    parents->release();
    *parents = Lease();
  }
  for (std::uint64_t i = below(3); i > 0 && !board_.ending; --i) visit();
  seat.stays = true;
  const Instant end = storm_now() + Duration(below(8) == 0 ? below(2'000'000) : 0);
  while (!board_.children_leave && (board_.ending || storm_now() < end)) usleep(10'000);
  seat.lives = false;
  seat.pid = 0;
  _exit(0);
}

}  // namespace airlock::testing
