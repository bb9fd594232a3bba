#include "store/support/storm.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <utility>

#include "airlock/error.hpp"
#include "store/support/storm_visitor.hpp"

namespace airlock::testing {

using namespace std::chrono_literals;

namespace {

// Nobody waits so long for anything.
constexpr Duration kHang = 15s;

std::chrono::milliseconds milliseconds_until(Instant moment) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(moment - storm_now(), Duration(0)));
}

}  // namespace

Storm::Storm(StormPlan plan)
    : plan_(std::move(plan)), random_(plan_.seed), workers_(plan_.workers), store_(plan_.open()) {
  board_->last_entry = storm_now();
  for (std::size_t i = 0; i < workers_.size(); ++i) start(i);
}

Storm::~Storm() {
  for (Worker& worker : workers_) worker.process.kill_and_wait();
  for (const StormBoard::Seat& seat : std::span(board_->seats).subspan(workers_.size())) {
    const pid_t pid = seat.pid;
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

void Storm::start(std::size_t number) {
  StormBoard::Seat& seat = board_->seats[number];
  seat.inside_until = Instant(0);
  seat.due = Instant(0);
  seat.stops = 0;
  seat.lives = true;
  const std::uint64_t seed = random_();
  workers_[number].process = Child([&] { StormVisitor(plan_, *board_, seat, seed).run(); });
  workers_[number].goes_on = Instant(0);
}

void Storm::run(Duration time, const std::function<void()>& trouble) {
  const Instant end = storm_now() + time;
  for (Instant now = storm_now(); now < end; now = storm_now()) {
    let_go_on(now);
    look_for_hangs();
    trouble();
    std::this_thread::sleep_for(1ms);
  }
  let_go_on(kForever);
}

// A third of them at most.
void Storm::stop_one(Duration time) {
  const auto stopped =
      std::ranges::count_if(workers_, [](const Worker& w) { return w.goes_on != Instant(0); });
  const std::size_t number = below(workers_.size());
  Worker& worker = workers_[number];
  if (worker.goes_on != Instant(0) || 3 * static_cast<std::size_t>(stopped) >= workers_.size()) {
    return;
  }
  ++board_->seats[number].stops;
  worker.stopped = storm_now();
  worker.process.signal(SIGSTOP);
  worker.process.wait_until_stopped();
  worker.goes_on = storm_now() + time;
  ++faults_;
  if (time > plan_.claim_window / 4) look_whether_blocked();
}

void Storm::let_go_on(Instant now) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    if (worker.goes_on == Instant(0) || worker.goes_on > now) continue;
    worker.goes_on = Instant(0);
    if (std::exchange(worker.may_block, false)) ++board_->blocked;
    worker.process.signal(SIGCONT);
    StormBoard::Seat& seat = board_->seats[i];
    const Duration time = storm_now() - worker.stopped;
    seat.stopped = seat.stopped.load() + time;
    if (time > plan_.claim_window / 4) ++seat.long_stops;
    ++seat.stops;
  }
}

void Storm::kill_one() {
  const std::size_t number = below(workers_.size());
  board_->seats[number].lives = false;
  workers_[number].process.kill_and_wait();
  start(number);
  ++faults_;
}

pid_t Storm::any_inside() {
  const std::size_t first = below(workers_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::size_t number = (first + i) % workers_.size();
    if (board_->seats[number].inside_until.load() != Instant(0)) {
      return workers_[number].process.pid();
    }
  }
  return any();
}

// One of those who are stopped was in the middle of a step, and has the lock of the gate.
void Storm::look_whether_blocked() {
  try {
    (void)store_.look("gate");
  } catch (const StoreError&) {
    ++board_->blocked;
    for (Worker& worker : workers_) worker.may_block = worker.goes_on != Instant(0);
  }
}

void Storm::look_for_hangs() {
  const Instant now = storm_now();
  for (StormBoard::Seat& seat : board_->seats) {
    const Instant due = seat.due;
    if (!seat.lives || due == Instant(0) || now < due + kHang) continue;
    ++hangs_;
    seat.due = Instant(0);
  }
  if (now - board_->last_entry.load() > kHang) {
    ++hangs_;
    board_->last_entry = now;
  }
}

// All who work end by themselves; or, where they fork, are killed, and their children are alone.
void Storm::await_end() {
  board_->ending = true;
  if (plan_.forks) {
    for (std::size_t i = 0; i < workers_.size(); ++i) board_->seats[i].lives = false;
    for (Worker& worker : workers_) worker.process.kill_and_wait();
    await_children();
    return;
  }
  const Instant last = storm_now() + plan_.max_wait + kHang;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Child& process = workers_[i].process;
    const bool ended = becomes_true([&] { return process.has_ended(); }, milliseconds_until(last));
    if (!ended) ++hangs_;
    EXPECT_TRUE(ended && process.wait()) << "a process did not end by itself";
    board_->seats[i].lives = false;
  }
}

void Storm::await_children() {
  const auto works = [](const StormBoard::Seat& seat) { return seat.pid > 0 && !seat.stays; };
  const auto children = std::span(board_->seats).subspan(workers_.size());
  const bool ended = becomes_true([&] { return std::ranges::none_of(children, works); },
                                  milliseconds_until(storm_now() + plan_.max_wait + kHang));
  if (!ended) hangs_ += static_cast<std::uint64_t>(std::ranges::count_if(children, works));
}

// What nobody has can be had: at once where processes are watched, elsewhere when its time is up, or
// that of a request that comes late.
std::uint64_t Storm::leaks() {
  const Request all{.gate = "gate",
                    .visitor = VisitorId::random(),
                    .permits = Permits{.limit = plan_.limit, .weight = plan_.limit}};
  std::uint64_t left = 1;
  std::string last;
  const auto is_free = [&] {
    try {
      const Answer answer = store_.admit(all);
      if (const auto* const granted = std::get_if<Granted>(&answer)) {
        (void)store_.release(granted->token);
      }
      const GateCounts counts = store_.look("gate")->counts;
      left = counts.holders + counts.waiting;
      last =
          std::to_string(counts.holders) + " inside, " + std::to_string(counts.waiting) + " wait";
      return left == 0 && std::holds_alternative<Granted>(answer);
    } catch (const StoreError& error) {
      last = error.what();
      return false;
    }
  };
  const Duration time = plan_.forks ? Duration(5s) : plan_.ttl + plan_.patience + 5s;
  if (becomes_true(is_free, milliseconds_until(storm_now() + time))) return 0;
  ADD_FAILURE() << "nobody is there and the gate is not free: " << last;
  return std::max<std::uint64_t>(left, 1);
}

ChaosRow Storm::end(const std::string& scenario) {
  await_end();
  const std::uint64_t leaked = leaks();
  board_->children_leave = true;
  const StormBoard& board = *board_;
  std::printf("%s: %llu visits, %llu in vain, %llu failures, %llu checks, %llu kept their place\n",
              scenario.c_str(), static_cast<unsigned long long>(board.visits),
              static_cast<unsigned long long>(board.in_vain),
              static_cast<unsigned long long>(board.failures),
              static_cast<unsigned long long>(board.checks),
              static_cast<unsigned long long>(board.compared));
  EXPECT_GT(board.checks, 0U) << "nothing was checked";
  EXPECT_EQ(board.broken, 0U) << "the store broke, and not what is between it and the visitors";
  return {.scenario = scenario,
          .faults = faults_ + board.forks,
          .operations = board.visits,
          .over_admissions = board.too_many + board.gone,
          .leaks = leaked,
          .hangs = hangs_,
          .order_violations = board.order_violations(),
          .late_returns = board.late};
}

}  // namespace airlock::testing
