#include "tls/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace airlock::server {
namespace {

constexpr std::size_t kMaxFile = 1U << 20U;
constexpr mode_t kOthers = S_IROTH | S_IWOTH | S_IWGRP;

struct Descriptor {
  int value;
  explicit Descriptor(int opened) : value(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

std::string contents(int descriptor) {
  std::string text;
  std::array<char, 4'096> piece{};
  ssize_t size = 0;
  while ((size = read(descriptor, piece.data(), piece.size())) > 0 && text.size() <= kMaxFile)
    text.append(piece.data(), static_cast<std::size_t>(size));
  return text;
}

}  // namespace

// What is checked is what is read: the name may mean another file in between.
std::string read_private_file(const TableReader& table, const char* key, const std::string& file) {
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (opened.value < 0 || fstat(opened.value, &status) != 0)
    table.fail(key, file + " cannot be read: " + std::generic_category().message(errno));
  if (!S_ISREG(status.st_mode)) table.fail(key, file + " is no file");
  if ((status.st_mode & kOthers) != 0)
    table.fail(key, file + " may be read or changed by others; chmod 0600, or 0640 with a group");
  return contents(opened.value);
}

}  // namespace airlock::server
