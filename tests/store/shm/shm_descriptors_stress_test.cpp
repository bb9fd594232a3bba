#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"
#include "support/chaos.hpp"

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kThreads = 4;

struct Board {
  std::atomic<std::uint32_t> ready;
  std::atomic<bool> stopping;
  std::atomic<std::uint64_t> closed;
  std::atomic<std::uint64_t> operations;
  std::atomic<std::uint64_t> lost;     // Leases that were gone before their time.
  std::atomic<std::uint64_t> touched;  // Descriptors of the program that were closed or written to.
};

Request ask(const std::string& name, const GateName& gate = "held") {
  return {.gate = gate,
          .visitor = VisitorId::named(name),
          .permits = Permits{.limit = kThreads, .ttl = 1h}};
}

// Holds a lease of one gate, and uses so many others that the segment grows and shrinks.
void hold_and_work(const Store& store, const std::string& name, Board& board) {
  const Token held = std::get<Granted>(store.admit(ask(name))).token;
  ++board.ready;
  for (int i = 0; !board.stopping; ++i) {
    const Answer answer = store.admit(ask(name, name + "-" + std::to_string(i % 2'000)));
    if (const auto* granted = std::get_if<Granted>(&answer)) (void)store.release(granted->token);
    if (i % 500 == 0) store.collect();
    if (store.renew(held, 1h) != Renewal::renewed) ++board.lost;
    ++board.operations;
  }
  if (!store.release(held)) ++board.lost;
}

// Opens files of its own, which get the numbers of what was closed, and looks whether they stay as they are.
void close_and_open(const std::string& folder, Board& board) {
  while (!board.stopping) {
    syscall(SYS_close_range, 3U, ~0U, 0U);
    ++board.closed;
    std::array<int, 8> own{};
    for (int& fd : own) fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    usleep(500);
    for (const int fd : own) {
      struct stat status {};
      if (fstat(fd, &status) != 0 || status.st_nlink != 0 || status.st_size != 0) ++board.touched;
    }
  }
}

TEST(ShmDescriptorsStress, LeasesStayValidWhileDescriptorsAreClosed) {
  const TempDir dir;
  const TempDir own;
  SharedValue<Board> board;
  const auto open_it = [&] {
    return shm::make_store({.dir = dir.path(), .timeout = 10s}, Clock::system());
  };
  Child child([&] {
    alarm(0);
    const auto store = open_it();
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { hold_and_work(store, "v" + std::to_string(i), *board); });
    }
    while (board->ready != kThreads) usleep(100);
    close_and_open(own.path(), *board);
    for (std::thread& thread : threads) thread.join();
  });
  ASSERT_TRUE(becomes_true([&] { return board->ready == kThreads; }));
  const auto store = open_it();
  std::uint64_t over = 0;
  const auto end = std::chrono::steady_clock::now() + (takes_its_time() ? 1800s : 20s);
  while (std::chrono::steady_clock::now() < end && !child.has_ended()) {
    if (std::holds_alternative<Granted>(store.admit(ask("witness")))) ++over;
    usleep(1000);
  }
  board->stopping = true;
  EXPECT_TRUE(child.wait());
  EXPECT_EQ(board->touched, 0U);
  const bool is_free = becomes_true([&] { return store.look("held")->counts.in_use <= over; });
  ChaosRow{.scenario = "descriptors closed in use (shm)",
           .faults = board->closed,
           .operations = board->operations,
           .over_admissions = over + board->lost,
           .leaks = is_free ? 0U : 1U}
      .report();
}

}  // namespace
}  // namespace airlock::testing
