#include "process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>

#include "signals.hpp"

namespace airlock::cli {
namespace {

constexpr int kDeepest = 4'096;      // Nobody descends through more processes than that.
constexpr std::size_t kBatch = 256;  // Processes that are signalled together.
constexpr std::size_t kMostMark = 1'024;

struct Status {
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
};

// "/proc/PID/FILE", opened.
Descriptor open_of(pid_t pid, std::string_view file) noexcept {
  std::array<char, 64> path{"/proc/"};
  char* end = std::to_chars(path.data() + 6, path.data() + 32, pid).ptr;
  for (const char c : file) *end++ = c;
  return Descriptor(open(path.data(), O_RDONLY | O_CLOEXEC));
}

pid_t number(std::string_view& text) noexcept {
  pid_t value = 0;
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return 0;
  const char* const stop =
      std::from_chars(text.data() + begin, text.data() + text.size(), value).ptr;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

// Its name may contain anything: the fields begin behind the last parenthesis.
bool read_status(pid_t pid, Status& status) noexcept {
  const Descriptor file = open_of(pid, "/stat");
  std::array<char, 512> buffer{};
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  if (size <= 0) return false;
  std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  const std::size_t name = text.rfind(')');
  if (name == std::string_view::npos || name + 4 > text.size()) return false;
  text.remove_prefix(name + 4);
  status = {.parent = number(text), .group = number(text), .session = number(text)};
  return true;
}

bool is_alive(int process) noexcept {
  pollfd ended{.fd = process, .events = POLLIN, .revents = 0};
  return poll(&ended, 1, 0) == 0;
}

bool descends(pid_t pid, const ProcessTree& tree) noexcept {
  for (int depth = 0; depth < kDeepest && pid > 0 && pid != tree.except; ++depth) {
    if (depth == 0 && tree.ancestor_fd >= 0 && pid == tree.ancestor) return true;
    Status status;
    if (!read_status(pid, status)) return false;
    if (status.parent == tree.ancestor) return true;
    pid = status.parent;
  }
  return false;
}

// Reads in pieces that overlap, so that a mark across two of them is found.
bool has_mark(pid_t pid, std::string_view mark) noexcept {
  const Descriptor file = open_of(pid, "/environ");
  std::array<char, 4 * kMostMark> buffer{};
  std::size_t kept = 0;
  while (true) {
    const ssize_t size = read(file.get(), buffer.data() + kept, buffer.size() - kept);
    if (size <= 0) return false;
    const std::string_view text(buffer.data(), kept + static_cast<std::size_t>(size));
    if (text.find(mark) != std::string_view::npos) return true;
    kept = text.size() < mark.size() ? text.size() : mark.size() - 1;
    text.substr(text.size() - kept).copy(buffer.data(), kept);
  }
}

bool belongs(pid_t pid, const ProcessTree& tree) noexcept {
  if (pid == getpid() || pid == tree.except) return false;
  if (tree.group != 0) {
    Status status;
    if (read_status(pid, status) && status.group == tree.group && status.session == tree.session) {
      return true;
    }
  }
  if (tree.ancestor != 0 && descends(pid, tree)) {
    if (tree.ancestor_fd < 0 || is_alive(tree.ancestor_fd)) return true;
  }
  return !tree.mark.empty() && tree.mark.size() <= kMostMark && has_mark(pid, tree.mark);
}

// The processes that were found, until they are signalled.
class Found {
 public:
  explicit Found(int signal) noexcept : signal_(signal) {}

  void add(pid_t pid, const ProcessTree& tree) noexcept {
    if (!belongs(pid, tree)) return;
    const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (process < 0) {
      // Without a descriptor it cannot be pinned; without a process there is nothing to pin.
      if (errno != ESRCH && ++count_ > 0 && signal_ != 0) kill(pid, signal_);
    } else if (!belongs(pid, tree) || !is_alive(process)) {
      close(process);
    } else {
      processes_[size_++] = process;
      ++count_;
      if (size_ == processes_.size()) signal_all();
    }
  }

  void signal_all() noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (signal_ != 0) syscall(SYS_pidfd_send_signal, processes_[i], signal_, nullptr, 0);
      close(processes_[i]);
    }
    size_ = 0;
  }

  [[nodiscard]] int count() const noexcept { return count_; }

 private:
  int signal_;
  int count_ = 0;
  std::size_t size_ = 0;
  std::array<int, kBatch> processes_{};
};

bool shows_our_namespace() noexcept {
  std::array<char, 32> text{};
  const ssize_t size = readlink("/proc/self", text.data(), text.size());
  if (size <= 0) return false;
  std::string_view self(text.data(), static_cast<std::size_t>(size));
  return number(self) == getpid();
}

}  // namespace

int signal_tree(const ProcessTree& tree, int signal) noexcept {
  if (!shows_our_namespace()) return -1;
  const Descriptor folder(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return -1;
  Found found(signal);
  alignas(dirent64) std::array<char, 8'192> buffer;
  long size = 0;
  while ((size = syscall(SYS_getdents64, folder.get(), buffer.data(), buffer.size())) > 0) {
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      std::string_view name(entry->d_name);
      if (const pid_t pid = number(name); pid > 0 && name.empty()) found.add(pid, tree);
      at += entry->d_reclen;
    }
  }
  found.signal_all();
  return found.count();
}

}  // namespace airlock::cli
