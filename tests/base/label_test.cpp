#include "base/label.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>

#include "airlock/token.hpp"
#include "base/quote.hpp"

namespace airlock::base {
namespace {

TEST(DefaultLabel, NamesHostProcessAndCommand) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  const std::string label(default_label());
  EXPECT_EQ(label.rfind(std::string(host.data()).substr(0, 30), 0), 0U) << label;
  std::string name;
  std::getline(std::ifstream("/proc/self/comm"), name);
  EXPECT_NE(label.find(':' + std::to_string(getpid()) + " " + name), std::string::npos) << label;
}

TEST(DefaultLabel, IsShortAndPrintable) {
  EXPECT_LE(default_label().size(), kMaxLabelSize);
  EXPECT_TRUE(is_printable(default_label()));
}

TEST(DefaultLabel, IsMadeOnceAndSharedByAllThreads) {
  const char* const text = default_label().data();
  EXPECT_EQ(default_label().data(), text);
  std::jthread([&] {
    prctl(PR_SET_NAME, "another");
    EXPECT_EQ(default_label().data(), text);
  }).join();
}

}  // namespace
}  // namespace airlock::base
