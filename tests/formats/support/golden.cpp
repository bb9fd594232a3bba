#include "formats/support/golden.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "support/paths.hpp"

namespace airlock::formats {
namespace {

std::string with_version(const Format& format, const std::string& dump) {
  return format.name + ", version " + std::to_string(format.version) + "\n\n" + dump;
}

int version_of(const Format& format, const std::string& stored) {
  int version = 0;
  const std::string pattern = format.name + ", version %d\n";
  return std::sscanf(stored.c_str(), pattern.c_str(), &version) == 1 ? version : 0;
}

std::string first_difference(const std::string& before, const std::string& after) {
  std::istringstream old_lines(before);
  std::istringstream new_lines(after);
  for (int number = 1;; ++number) {
    std::string old_line;
    std::string new_line;
    const bool has_old = static_cast<bool>(std::getline(old_lines, old_line));
    const bool has_new = static_cast<bool>(std::getline(new_lines, new_line));
    if (!has_old && !has_new) return "";
    if (has_old != has_new || old_line != new_line) {
      return "line " + std::to_string(number) + "\n  was: " + old_line + "\n  is:  " + new_line;
    }
  }
}

}  // namespace

Verdict judge(const Format& format, const std::string& stored, const std::string& dump,
              bool is_update) {
  const std::string is = with_version(format, dump);
  if (is == stored) return {};
  const int version = version_of(format, stored);
  const std::string file = "tests/formats/" + format.name + ".golden";
  if (!stored.empty() && version == format.version) {
    return {"the format \"" + format.name + "\" has changed and its version has not. Raise " +
            format.version_is_in + ", then run ./dev golden. (Or, if no release has version " +
            std::to_string(version) + ": remove " + file + ", then run ./dev golden.)\n" +
            first_difference(stored, is)};
  }
  if (version > format.version) {
    return {file + " has version " + std::to_string(version) + ", and this build writes " +
            std::to_string(format.version) + ": versions only grow"};
  }
  if (is_update) return {.complaint = "", .store = true};
  return {file + (stored.empty() ? " is not there" : " has version " + std::to_string(version)) +
          ", and this build writes version " + std::to_string(format.version) +
          ": run ./dev golden, and write into docs/upgrade.md what has changed"};
}

void expect_golden(const Format& format, const std::string& dump) {
  const std::string path = testing::source_dir() + "/tests/formats/" + format.name + ".golden";
  std::ifstream file(path);
  const std::string stored{std::istreambuf_iterator<char>(file), {}};
  const bool is_update =
      std::getenv("AIRLOCK_UPDATE_GOLDEN") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const Verdict verdict = judge(format, stored, dump, is_update);
  if (!verdict.complaint.empty()) ADD_FAILURE() << verdict.complaint;
  if (verdict.store && !(std::ofstream(path) << with_version(format, dump) << std::flush)) {
    ADD_FAILURE() << path << " is not written";
  }
}

}  // namespace airlock::formats
