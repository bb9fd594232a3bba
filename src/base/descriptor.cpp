#include "base/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/posix.hpp"

namespace airlock::base {
namespace {

constexpr int kFirst = 3;
constexpr std::size_t kPage = 1;  // The kernel rounds up.

}  // namespace

int above_stdio(int fd) noexcept {
  if (fd < 0 || fd >= kFirst) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, kFirst);
  const int error = errno;
  ::close(fd);
  errno = error;
  return moved;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int Descriptor::release() noexcept { return std::exchange(fd_, -1); }

// A mapping refers to the open file as a descriptor does.
KeptFile::KeptFile(const Descriptor& fd) {
  void* const page = mmap(nullptr, kPage, PROT_NONE, MAP_SHARED, fd.get(), 0);
  if (page == MAP_FAILED) throw_errno("mmap", errno);
  page_ = page;
  if (madvise(page, kPage, MADV_DONTFORK) == 0) return;
  const int error = errno;
  munmap(page, kPage);
  throw_errno("madvise", error);
}

KeptFile::KeptFile(KeptFile&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  std::swap(page_, other.page_);
  return *this;
}

KeptFile::~KeptFile() {
  if (page_ != nullptr) munmap(page_, kPage);
}

}  // namespace airlock::base
