#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "store/support/temp_dir.hpp"

// What tests leave behind.

namespace airlock {
namespace {

using namespace std::chrono_literals;

// The folder of a child that was killed while it had it.
std::string folder_of_a_dead_child() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const TempDir dir;
    std::filesystem::create_directory(dir.path() + "/more");
    (void)!write(ends[1], dir.path().data(), dir.path().size());
    (void)raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  std::array<char, 200> path{};
  const ssize_t size = read(ends[0], path.data(), path.size());
  for (const int end : ends) close(end);
  return {path.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

TEST(TempDir, IsGoneAlsoWhenItsProcessIsKilled) {
  const TempDir kept;
  const std::string folder = folder_of_a_dead_child();
  ASSERT_FALSE(folder.empty());
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (std::filesystem::exists(folder) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_TRUE(std::filesystem::exists(kept.path()));
}

}  // namespace
}  // namespace airlock
