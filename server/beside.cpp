#include "beside.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>

namespace airlock::server {

int become(const char* name, char** arguments) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size > 0) {
    const std::string self(path.data(), static_cast<std::size_t>(size));
    const std::string beside = self.substr(0, self.rfind('/') + 1) + name;
    execv(beside.c_str(), arguments);
  }
  execvp(name, arguments);
  return errno;
}

}  // namespace airlock::server
