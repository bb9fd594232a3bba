#pragma once

#include <string>

namespace airlock::formats {

// A format that others read, too: earlier and later builds.
struct Format {
  std::string name;  // Of the file tests/formats/NAME.golden.
  int version = 0;   // That this build writes.
  std::string version_is_in;
};

// The dump must be the stored one. With AIRLOCK_UPDATE_GOLDEN in the environment (./dev golden) a dump of a higher
// version is stored; one of the same version never takes the place of another.
void expect_golden(const Format& format, const std::string& dump);

// What expect_golden() does.
struct Verdict {
  std::string complaint;  // Empty: none.
  bool store = false;     // The dump takes the place of what is stored.
};
[[nodiscard]] Verdict judge(const Format& format, const std::string& stored,
                            const std::string& dump, bool is_update);

}  // namespace airlock::formats
