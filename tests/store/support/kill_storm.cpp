#include "store/support/kill_storm.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "airlock/store.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxWorkers = 256;

struct GateOfStorm {
  const char* name;
  std::uint32_t limit;
};
constexpr std::array<GateOfStorm, 6> kGates = {
    {{"one", 1}, {"three", 3}, {"five", 5}, {"many", 1000}, {"pair/a", 2}, {"pair/b", 3}}};
constexpr std::size_t kPairA = 4;
constexpr std::size_t kPairB = 5;

enum class Doing : std::uint32_t {
  nothing,
  attach,
  admit,
  join,
  again,
  leave,
  release,
  renew,
  disown,
  adopt,
  look,
  pair,
};

struct Log {
  static constexpr std::size_t kRing = 64;
  std::atomic<std::uint32_t> alive;  // The generation; 0 from before it is killed.
  std::atomic<std::uint32_t> doing;
  std::atomic<std::int64_t> since;
  std::atomic<std::uint64_t> steps, grants, checks;
  std::atomic<std::int64_t> longest;
  // Generation, a count, and the weight: what it surely holds.
  std::array<std::atomic<std::uint64_t>, kGates.size()> held;
  std::array<std::atomic<std::uint64_t>, kRing> ring;
  std::atomic<std::uint32_t> next;
};

enum class Wrong : std::size_t { over_admission, leak, hang, failure };

struct Board {
  std::array<Log, kMaxWorkers> logs;
  std::array<std::atomic<std::uint64_t>, 4> counts;  // By Wrong.
  std::atomic<bool> failed;
  std::array<char, 1000> wrong;
};

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             SteadyClock::now().time_since_epoch())
      .count();
}

void fail(Board& board, Wrong wrong, const char* what, const char* detail) {
  ++board.counts.at(static_cast<std::size_t>(wrong));
  bool expected = false;
  if (!board.failed.compare_exchange_strong(expected, true)) return;
  std::snprintf(board.wrong.data(), board.wrong.size(), "%s: %s", what, detail);
}

class Worker {
 public:
  Worker(Board& board, std::uint32_t number, std::uint32_t generation, std::uint32_t workers,
         const std::string& dir, std::uint64_t seed)
      : board_(board),
        log_(board.logs[number]),
        generation_(generation),
        workers_(workers),
        dir_(dir),
        random_(seed) {}

  void run() {
    doing(Doing::attach, 0);
    store_ = shm::make_store({.dir = dir_, .timeout = 10s}, Clock::system());
    (void)store_.id();
    done();
    // Most sleep with what they hold, so that those at work, and the dying, get on.
    while (!board_.failed) {
      for (std::uint32_t i = below(50); i > 0; --i) step();
      usleep(below(30'000));
    }
  }

 private:
  struct Holding {
    Token token;
    std::uint32_t weight;
  };

  [[nodiscard]] std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }

  void doing(Doing what, std::size_t gate) {
    log_.since = now_us();
    log_.doing = static_cast<std::uint32_t>(what);
    log_.ring[log_.next++ % Log::kRing] = static_cast<std::uint64_t>(what) << 8 | gate;
  }
  void done() {
    const std::int64_t took = now_us() - log_.since;
    if (took > log_.longest) log_.longest = took;
    log_.doing = 0;
    log_.ring[log_.next++ % Log::kRing] = 0;
    ++log_.steps;
  }

  void set_held(std::size_t gate, std::uint32_t weight) {
    const std::uint64_t count = (log_.held[gate] >> 16 & 0xFFFF) + 1;
    log_.held[gate] = std::uint64_t{generation_} << 32 | (count & 0xFFFF) << 16 | weight;
  }

  void entered(std::size_t gate, const Granted& granted, std::uint32_t weight) {
    holding_[gate] = {granted.token, weight};
    waiting_[gate] = false;
    set_held(gate, weight);
    ++log_.grants;
    check(gate);
  }

  // All words twice, the same: between the two they were true together.
  void check(std::size_t gate) {
    std::array<std::uint64_t, kMaxWorkers> first{};
    for (int tries = 0; tries < 5; ++tries) {
      for (std::uint32_t i = 0; i < workers_; ++i) first[i] = board_.logs[i].held[gate];
      bool still = true;
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < workers_; ++i) {
        const bool lives = board_.logs[i].alive == first[i] >> 32;
        still = still && board_.logs[i].held[gate] == first[i];
        if (lives) sum += first[i] & 0xFFFF;
      }
      if (!still) continue;
      ++log_.checks;
      if (sum > kGates[gate].limit) {
        std::array<char, 100> text{};
        std::snprintf(text.data(), text.size(), "gate %s, limit %u, held %llu", kGates[gate].name,
                      kGates[gate].limit, static_cast<unsigned long long>(sum));
        fail(board_, Wrong::over_admission, "over-admission", text.data());
      }
      return;
    }
  }

  [[nodiscard]] Request request(std::size_t gate, bool join) const {
    Request request{
        .gate = kGates[gate].name,
        .visitor = visitors_[gate],
        .label = "storm",
        .permits = Permits{.limit = kGates[gate].limit, .weight = weights_[gate], .ttl = 1h}};
    request.line.join = join;
    request.line.patience = 1h;
    return request;
  }

  void admit(std::size_t gate, bool join) {
    if (holding_[gate]) return;
    if (!waiting_[gate]) {
      visitors_[gate] = VisitorId::random();
      weights_[gate] = 1 + below(kGates[gate].limit > 2 ? 2 : 1);
    }
    doing(join ? Doing::join : Doing::admit, gate);
    const Answer answer = store_.admit(request(gate, join));
    if (const auto* granted = std::get_if<Granted>(&answer)) {
      entered(gate, *granted, weights_[gate]);
    } else if (std::holds_alternative<Queued>(answer)) {
      waiting_[gate] = true;
    }
    done();
  }

  void release(std::size_t gate) {
    if (!holding_[gate]) return;
    doing(Doing::release, gate);
    set_held(gate, 0);
    if (!store_.release(holding_[gate]->token))
      fail(board_, Wrong::over_admission, "release", "what is held is gone");
    holding_[gate].reset();
    done();
  }

  void renew(std::size_t gate) {
    if (!holding_[gate]) return;
    doing(Doing::renew, gate);
    if (store_.renew(holding_[gate]->token, 1h) != Renewal::renewed) {
      fail(board_, Wrong::over_admission, "renew", "what is held is gone");
    }
    done();
  }

  // Detached for a moment. If it dies then, its slot is free at the end of the ttl, so that is short.
  void pass_on(std::size_t gate) {
    if (!holding_[gate]) return;
    doing(Doing::adopt, gate);
    if (!store_.adopt(holding_[gate]->token))
      fail(board_, Wrong::over_admission, "adopt", "what is held is gone");
    done();
  }

  void leave(std::size_t gate) {
    if (!waiting_[gate]) return;
    doing(Doing::leave, gate);
    store_.leave(kGates[gate].name, visitors_[gate]);
    waiting_[gate] = false;
    done();
  }

  // Both or none.
  void pair() {
    if (holding_[kPairA] || holding_[kPairB] || waiting_[kPairA] || waiting_[kPairB]) return;
    doing(Doing::pair, kPairA);
    visitors_[kPairA] = visitors_[kPairB] = VisitorId::random();
    weights_[kPairA] = weights_[kPairB] = 1;
    const std::array requests = {request(kPairA, false), request(kPairB, false)};
    const GroupAnswer answer = store_.admit_all(requests);
    if (answer) {
      entered(kPairA, answer.granted[0], 1);
      entered(kPairB, answer.granted[1], 1);
    }
    done();
  }

  void look(std::size_t gate) {
    doing(Doing::look, gate);
    const auto view = store_.look(kGates[gate].name);
    if (view && view->counts.in_use > kGates[gate].limit)
      fail(board_, Wrong::over_admission, "look", "more than the limit");
    done();
  }

  void step() {
    const std::size_t gate = below(kGates.size());
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return admit(gate, false);
      case 3:
      case 4:
        return admit(gate, true);
      case 5:
      case 6:
      case 7:
        return release(gate);
      case 8:
        return renew(gate);
      case 9:
        return below(8) == 0 ? look(gate) : pass_on(gate);
      case 10:
        return leave(gate);
      default:
        return pair();
    }
  }

  Board& board_;
  Log& log_;
  std::uint32_t generation_;
  std::uint32_t workers_;
  std::string dir_;
  std::mt19937_64 random_;
  Store store_;
  std::array<std::optional<Holding>, kGates.size()> holding_;
  std::array<bool, kGates.size()> waiting_{};
  std::array<VisitorId, kGates.size()> visitors_{};
  std::array<std::uint32_t, kGates.size()> weights_{};
};

class Controller {
 public:
  explicit Controller(const KillStorm& storm) : storm_(storm), random_(storm.seed) {}

  KillStorm::Result run() {
    const auto began = SteadyClock::now();
    for (std::uint32_t i = 0; i < storm_.workers; ++i) start(i);
    std::array<std::uint32_t, 4> victims{};  // At once: dying takes longer than killing.
    while (result_.kills < storm_.kills && SteadyClock::now() - began < storm_.at_most &&
           !board_->failed) {
      for (std::uint32_t& victim : victims) kill_one(victim = choose());
      for (const std::uint32_t victim : victims) {
        bury(victim);
        start(victim);
      }
      result_.kills += victims.size();
      if (result_.kills % 64 == 0) check_for_hangs();
    }
    for (std::uint32_t i = 0; i < storm_.workers; ++i) kill_one(i);
    for (std::uint32_t i = 0; i < storm_.workers; ++i) bury(i);
    result_.took =
        std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began);
    check_for_leaks();
    sum_up();
    return result_;
  }

 private:
  // Rather one that is in the middle of a step.
  [[nodiscard]] std::uint32_t choose() {
    auto number = static_cast<std::uint32_t>(random_() % storm_.workers);
    for (std::uint32_t i = 0; i < storm_.workers && !is_at_work(number); ++i) {
      number = (number + 1) % storm_.workers;
    }
    while (board_->logs[number].alive == 0) number = (number + 1) % storm_.workers;
    return number;
  }

  void start(std::uint32_t number) {
    Log& log = board_->logs[number];
    const std::uint32_t generation = ++generations_;
    for (auto& held : log.held) held = 0;
    log.since = now_us();
    log.doing = 0;
    log.alive = generation;
    const std::uint64_t seed = random_();
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(600);
      try {
        Worker(*board_, number, generation, storm_.workers, dir_.path(), seed).run();
      } catch (const std::exception& error) {
        fail(*board_, Wrong::failure, "a step failed", error.what());
      }
      _exit(0);
    }
    pids_[number] = pid;
  }

  [[nodiscard]] bool is_at_work(std::uint32_t number) const {
    return board_->logs[number].alive != 0 && board_->logs[number].doing != 0;
  }

  void kill_one(std::uint32_t number) {
    board_->logs[number].alive = 0;
    kill(pids_[number], SIGKILL);
  }

  void bury(std::uint32_t number) {
    int status = 0;
    waitpid(pids_[number], &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
      fail(*board_, Wrong::failure, "a worker died", std::to_string(WTERMSIG(status)).c_str());
    }
  }

  void check_for_hangs() {
    for (std::uint32_t i = 0; i < storm_.workers; ++i) {
      const Log& log = board_->logs[i];
      if (log.doing != 0 && now_us() - log.since > 20'000'000) {
        fail(*board_, Wrong::hang, "a step hangs", std::to_string(log.doing).c_str());
      }
    }
  }

  // Everybody is dead: nothing is in use, nobody waits, and all of it can be had.
  void check_for_leaks() {
    const auto store = shm::make_store({.dir = dir_.path()}, Clock::system());
    for (const GateOfStorm& gate : kGates) {
      const Request all{.gate = gate.name,
                        .visitor = VisitorId::random(),
                        .permits = Permits{.limit = gate.limit, .weight = gate.limit}};
      Answer answer = store.admit(all);
      for (int i = 0; i < 100 && !std::holds_alternative<Granted>(answer); ++i) {
        std::this_thread::sleep_for(20ms);
        answer = store.admit(all);
      }
      // Who died last is found within a few milliseconds.
      auto view = store.look(gate.name);
      for (int i = 0; i < 100 && view->counts.waiting != 0; ++i) {
        std::this_thread::sleep_for(20ms);
        view = store.look(gate.name);
      }
      if (!std::holds_alternative<Granted>(answer)) {
        const std::string text = std::string(gate.name) + ": in use " +
                                 std::to_string(view->counts.in_use) + ", waiting " +
                                 std::to_string(view->counts.waiting);
        fail(*board_, Wrong::leak, "a slot leaked", text.c_str());
        continue;
      }
      if (view->counts.in_use != gate.limit || view->counts.waiting != 0) {
        fail(*board_, Wrong::leak, "somebody is left in the line", gate.name);
      }
      (void)store.release(std::get<Granted>(answer).token);
      const GateName name(gate.name);
      if (store.counts({&name, 1}).front().in_use != 0)
        fail(*board_, Wrong::leak, "not empty", gate.name);
    }
  }

  void sum_up() {
    for (const Log& log : std::span(board_->logs).first(storm_.workers)) {
      result_.steps += log.steps;
      result_.grants += log.grants;
      result_.checks += log.checks;
      const auto longest = std::chrono::milliseconds(log.longest / 1000);
      result_.longest_step = std::max(result_.longest_step, longest);
    }
    const auto count = [this](Wrong wrong) -> std::uint64_t {
      return board_->counts.at(static_cast<std::size_t>(wrong));
    };
    result_.over_admissions = count(Wrong::over_admission);
    result_.leaks = count(Wrong::leak);
    result_.hangs = count(Wrong::hang);
    if (!board_->failed) return;
    result_.wrong = board_->wrong.data();
    for (std::uint32_t i = 0; i < storm_.workers; ++i) {
      const Log& log = board_->logs[i];
      result_.wrong +=
          "\n  worker " + std::to_string(i) + " was doing " + std::to_string(log.doing);
    }
  }

  KillStorm storm_;
  std::mt19937_64 random_;
  TempDir dir_;
  SharedValue<Board> board_;
  std::array<pid_t, kMaxWorkers> pids_{};
  std::uint32_t generations_ = 0;
  KillStorm::Result result_;
};

}  // namespace

std::string KillStorm::Result::text() const {
  return std::to_string(kills) + " kills in " + std::to_string(took.count()) + " ms, " +
         std::to_string(steps) + " steps, " + std::to_string(grants) + " grants, " +
         std::to_string(checks) + " of them checked, longest step " +
         std::to_string(longest_step.count()) + " ms";
}

KillStorm::Result KillStorm::run() const { return Controller(*this).run(); }

}  // namespace airlock
