#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

namespace airlock {

// What each descriptor of a process refers to.
using Descriptors = std::map<int, std::string>;
inline Descriptors descriptors_of(pid_t pid) {
  Descriptors all;
  std::error_code closed;  // That of the listing itself.
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    const std::string target = std::filesystem::read_symlink(entry, closed);
    if (!closed) all[std::stoi(entry.path().filename())] = target;
  }
  return all;
}

// Those that a program executed now would get.
inline Descriptors inheritable_descriptors() {
  auto all = descriptors_of(getpid());
  std::erase_if(all, [](const auto& descriptor) {
    const int flags = fcntl(descriptor.first, F_GETFD);
    return flags < 0 || (flags & FD_CLOEXEC) != 0;
  });
  return all;
}

// What people see in `ps`.
inline std::string name_of_process(pid_t pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  return name;
}

}  // namespace airlock
