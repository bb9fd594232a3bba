#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// One program holds the tests of many sources. It is started through a link that bears the name of a source,
// bulkhead_test -> airlock_unit_tests, and then runs the tests of that source alone; under its own name, all of them.

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool matches_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

// What --gtest_filter means, which googletest keeps to itself: patterns, '-', patterns of exceptions.
class Filter {
 public:
  explicit Filter(std::string_view text)
      : wanted_(split(text.substr(0, text.find('-')), ':')),
        except_(split(text.find('-') == text.npos ? "" : text.substr(text.find('-') + 1), ':')) {
    if (wanted_.empty()) wanted_.emplace_back("*");
  }

  [[nodiscard]] bool selects(const std::string& name) const {
    return matches_any(name, wanted_) && !matches_any(name, except_);
  }

 private:
  std::vector<std::string> wanted_;
  std::vector<std::string> except_;
};

// The full names of all tests, by the source that has them.
std::map<std::string, std::vector<std::string>> tests_by_source() {
  std::map<std::string, std::vector<std::string>> tests;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(j);
      tests[std::filesystem::path(test.file()).stem()].push_back(std::string(suite.name()) + "." +
                                                                 test.name());
    }
  }
  return tests;
}

// A name that is there twice is a suite instantiated in two sources: its tests would run twice.
std::string first_used_twice(const std::map<std::string, std::vector<std::string>>& tests) {
  std::map<std::string, int> uses;
  for (const auto& [source, names] : tests) {
    for (const std::string& name : names) {
      if (++uses[name] == 2) return name;
    }
  }
  return "";
}

int fail(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = std::filesystem::path(argv[0]).filename();
  ::testing::InitGoogleMock(&argc, argv);
  const auto tests = tests_by_source();
  if (const std::string twice = first_used_twice(tests); !twice.empty()) {
    return fail("two tests are called " + twice);
  }
  if (name.ends_with("_tests")) return RUN_ALL_TESTS();

  const auto own = tests.find(name);
  if (own == tests.end()) return fail("no test is of " + name + ".cpp");
  const Filter filter(GTEST_FLAG_GET(filter));
  std::string selected;
  for (const std::string& test : own->second) {
    if (filter.selects(test)) selected += (selected.empty() ? "" : ":") + test;
  }
  if (selected.empty())
    return fail("no test of " + name + ".cpp is selected by " + GTEST_FLAG_GET(filter));
  GTEST_FLAG_SET(filter, selected);
  return RUN_ALL_TESTS();
}
