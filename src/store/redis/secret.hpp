#pragma once

#include <string>

#include "base/locks.hpp"

namespace airlock::redis {

// The first line of a file. InvalidArgument: there is none; `what` names the option.
[[nodiscard]] std::string first_line(const std::string& what, const std::string& path);

// A password from a file, which is read again when a server refuses it: so a password can be changed
// while the process runs. Not for use across fork().
class Secret {
 public:
  Secret(std::string path, std::string value) : path_(std::move(path)), value_(std::move(value)) {}

  [[nodiscard]] std::string get();

  // Whether there is another one than the one that was refused.
  [[nodiscard]] bool reread(const std::string& refused);

 private:
  const std::string path_;
  base::StdMutex mutex_;
  std::string value_ AIRLOCK_GUARDED_BY(mutex_);
};

}  // namespace airlock::redis
