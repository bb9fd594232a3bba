#include "store/redis/secret.hpp"

#include <fstream>

#include "airlock/error.hpp"

namespace airlock::redis {

std::string first_line(const std::string& what, const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line.empty()) {
    throw InvalidArgument("store URI: " + what + ": cannot read a first line from " + path);
  }
  return line;
}

std::string Secret::get() {
  const base::LockGuard lock(mutex_);
  return value_;
}

bool Secret::reread(const std::string& refused) {
  const base::LockGuard lock(mutex_);
  try {
    if (value_ == refused) value_ = first_line("password_file", path_);
  } catch (const InvalidArgument&) {  // NOLINT(bugprone-empty-catch): it is being written
  }
  return value_ != refused;
}

}  // namespace airlock::redis
