#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/support/server.hpp"

// Many processes at one gate, with messages lost and processes killed: never more inside than the
// limit, nobody waits for ever, and in the end nothing is left.

namespace airlock {
namespace {

using namespace std::chrono_literals;
using testing::RedisServer;

constexpr std::size_t kProcesses = 32;
constexpr std::uint32_t kLimit = 10;
constexpr std::uint32_t kHeaviest = 7;
constexpr Duration kTtl = 1s;

// What all processes see of each other, beside the store.
struct Board {
  struct Place {
    std::atomic<std::uint32_t> weight = 0;
    std::atomic<std::int64_t> until = 0;  // Certainly its own so long.
  };
  std::array<Place, kProcesses> places;
  std::atomic<std::uint64_t> version = 0;
  std::atomic<std::uint64_t> entered = 0;
  std::atomic<std::uint64_t> over_limit = 0;
  std::atomic<std::uint64_t> late = 0;
};

std::int64_t now() { return Clock::system().now().count(); }

// How much is certainly inside; by the board as it stood at one moment.
std::uint32_t inside(const Board& board) {
  for (;;) {
    const std::uint64_t version = board.version;
    std::uint32_t sum = 0;
    const std::int64_t moment = now();
    for (const Board::Place& place : board.places) {
      if (place.until > moment) sum += place.weight;
    }
    if (board.version == version) return sum;
  }
}

struct Trial {
  unsigned lost_percent;
  unsigned killed_permille;
};

class Client {
 public:
  Client(Board& board, std::size_t number, const Trial& trial, const std::string& prefix)
      : board_(board), place_(board.places.at(number)), trial_(trial), dice_(number + 1) {
    redis::Options options{.address = RedisServer::shared().address(), .prefix = prefix};
    options.timeout = 5s;
    options.hears = [this] { return hearing_() % 100 >= trial_.lost_percent; };
    store_ = redis::make_store(options);
    gate_.emplace(
        store_, "gate",
        AirlockOptions{.limit = kLimit, .ttl = kTtl, .patience = 2s, .claim_window = 300ms});
  }

  void run(std::chrono::steady_clock::time_point end) {
    while (std::chrono::steady_clock::now() < end) visit();
  }

 private:
  void visit() {
    const auto weight = static_cast<std::uint32_t>(1 + dice_() % kHeaviest);
    const std::int64_t sent = now();
    if (dies()) {
      std::thread([this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + dice_() % 20));
        ::kill(getpid(), SIGKILL);
      }).detach();
    }
    Outcome<Lease> lease = gate_->try_enter_for(10s, {.weight = weight});
    if (!lease) {
      ++board_.late;
      return;
    }
    mark(weight, std::max(sent, now() - 1'000) + 100'000);
    ++board_.entered;
    if (inside(board_) > kLimit) ++board_.over_limit;
    std::this_thread::sleep_for(std::chrono::microseconds(dice_() % 3'000));
    mark(0, 0);
    try {
      lease->release();
    } catch (const SealReleasingError&) {
    }
  }

  void mark(std::uint32_t weight, std::int64_t until) {
    place_.until = 0;
    place_.weight = weight;
    place_.until = until;
    ++board_.version;
  }

  bool dies() { return dice_() % 1000 < trial_.killed_permille; }

  Board& board_;
  Board::Place& place_;
  const Trial& trial_;
  std::mt19937 dice_;
  std::mt19937 hearing_{std::random_device()()};
  Store store_;
  std::optional<Airlock> gate_;
};

class ManyProcesses : public ::testing::TestWithParam<Trial> {};

TEST_P(ManyProcesses, NeverExceedTheLimitAndNeverHang) {
  const std::string prefix = testing::unused_prefix();
  (void)RedisServer::shared().command({"PING"});
  void* const memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Board& board = *new (memory) Board;
  const auto end = std::chrono::steady_clock::now() + 3s;
  const auto spawn = [&](std::size_t number) {
    const pid_t child = fork();
    if (child != 0) return child;
    alarm(40);
    Client(board, number, GetParam(), prefix).run(end);
    _exit(0);
  };
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < kProcesses; ++i) children.push_back(spawn(i));
  int killed = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    int status = -1;
    ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
    if (WIFSIGNALED(status)) {
      EXPECT_EQ(WTERMSIG(status), SIGKILL) << "hung";
      ++killed;
    }
  }
  std::cout << board.entered << " entered, " << board.late << " late, " << killed << " killed\n";
  EXPECT_EQ(board.over_limit, 0U);
  EXPECT_EQ(board.late, 0U);
  EXPECT_GT(board.entered, 20U);
  EXPECT_EQ(killed > 0, GetParam().killed_permille > 0);

  const auto store =
      redis::make_store({.address = RedisServer::shared().address(), .prefix = prefix});
  const auto gone = std::chrono::steady_clock::now() + 4s;
  std::optional<GateView> view = store.look("gate");
  while (view && (view->counts.holders != 0 || view->counts.waiting != 0) &&
         std::chrono::steady_clock::now() < gone) {
    std::this_thread::sleep_for(50ms);
    view = store.look("gate");
  }
  ASSERT_TRUE(view);
  EXPECT_EQ(view->counts.in_use, 0U);
  EXPECT_EQ(view->counts.holders, 0U);
  EXPECT_EQ(view->counts.waiting, 0U);
  munmap(memory, sizeof(Board));
}

INSTANTIATE_TEST_SUITE_P(Trials, ManyProcesses,
                         ::testing::Values(Trial{0, 0}, Trial{30, 0}, Trial{100, 0},
                                           Trial{30, 100}),
                         [](const auto& trial) {
                           return "lost" + std::to_string(trial.param.lost_percent) + "killed" +
                                  std::to_string(trial.param.killed_permille);
                         });

}  // namespace
}  // namespace airlock
