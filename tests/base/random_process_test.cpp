#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "airlock/token.hpp"
#include "base/fork.hpp"
#include "base/label.hpp"
#include "base/random.hpp"

namespace airlock::base {
namespace {

// More than a block, so that what the parent had left is gone through.
constexpr std::size_t kIds = 40;
using Ids = std::array<VisitorId, kIds>;

Ids draw() {
  Ids ids;
  for (VisitorId& id : ids) id = VisitorId::random();
  return ids;
}

pid_t bare_clone() { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }

// Runs `work` in a child that `split` makes, and gives back what it left in `result`.
template <typename Result>
Result in_child(const std::function<pid_t()>& split, const std::function<Result()>& work) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = split();
  if (child == 0) {
    const Result result = work();
    const bool written = write(ends[1], &result, sizeof result) == sizeof result;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Result result{};
  EXPECT_EQ(read(ends[0], &result, sizeof result), static_cast<ssize_t>(sizeof result));
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return result;
}

void expect_distinct(const std::vector<Ids>& all) {
  std::set<VisitorId> seen;
  for (const Ids& ids : all) seen.insert(ids.begin(), ids.end());
  EXPECT_EQ(seen.size(), all.size() * kIds);
}

void expect_children_draw_their_own(const std::function<pid_t()>& split) {
  std::vector<Ids> all = {draw()};
  all.push_back(in_child<Ids>(split, draw));
  all.push_back(in_child<Ids>(split, draw));
  all.push_back(draw());
  expect_distinct(all);
}

TEST(ForkedRandom, AChildRepeatsNeitherItsParentNorItsSister) {
  expect_children_draw_their_own(fork);
}

TEST(ForkedRandom, ABareCloneIsNoticedToo) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not survive a clone() behind its back";
#endif
  expect_children_draw_their_own(bare_clone);
}

TEST(ForkedRandom, AGrandchildRepeatsNobody) {
  std::vector<Ids> all = {draw()};
  using Two = std::array<Ids, 2>;
  const auto [child, grandchild] = in_child<Two>(fork, [] {
    const Ids own = draw();
    return Two{own, in_child<Ids>(fork, draw)};
  });
  all.insert(all.end(), {child, grandchild, draw()});
  expect_distinct(all);
}

TEST(ForkedRandom, AChildOfABusyProcessDrawsItsOwn) {
  std::atomic<bool> stop{false};
  std::jthread busy([&] {
    while (!stop) (void)VisitorId::random();
  });
  std::vector<Ids> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(draw());
    all.push_back(in_child<Ids>(fork, draw));
  }
  stop = true;
  expect_distinct(all);
}

TEST(ForkGeneration, IsAnotherOneInEveryChild) {
  const std::uint64_t own = fork_generation();
  using Pair = std::array<std::uint64_t, 2>;
  const auto [child, grandchild] = in_child<Pair>(fork, [] {
    const std::uint64_t generation = fork_generation();
    return Pair{generation, in_child<std::uint64_t>(fork, fork_generation)};
  });
  EXPECT_NE(child, own);
  EXPECT_NE(grandchild, own);
  EXPECT_NE(grandchild, child);
  EXPECT_EQ(fork_generation(), own);
}

TEST(ForkedLabel, NamesTheChild) {
  const std::string before(default_label());
  using Text = std::array<char, 80>;
  const Text label = in_child<Text>(fork, [] {
    const std::string expected = ':' + std::to_string(getpid()) + ' ';
    Text text{};
    default_label().copy(text.data(), text.size() - 1);
    return std::string_view(text.data()).find(expected) != std::string_view::npos ? text : Text{};
  });
  EXPECT_NE(std::string(label.data()), "");
  EXPECT_NE(std::string(label.data()), before);
  EXPECT_EQ(default_label(), before);
}

}  // namespace
}  // namespace airlock::base
