#include "guard.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "process_tree.hpp"

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

namespace airlock::cli {
namespace {

// Rounds until it gives up on processes that cannot be killed: a few milliseconds apart, 30 s.
constexpr int kRounds = 1'500;
constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 20'000'000};

// Files of our own are closed on exec, those of the caller are not: that is how they came here.
void close_if_callers(int fd) noexcept {
  const int flags = fcntl(fd, F_GETFD);
  if (fd > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) close(fd);
}

void close_files_of_caller() noexcept {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null < 0 || dup2(null, fd) < 0) close(fd);
  }
  const Descriptor folder(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(dirent64) std::array<char, 4'096> buffer;
  long size = 0;
  while ((size = syscall(SYS_getdents64, folder.get(), buffer.data(), buffer.size())) > 0) {
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      const std::string_view name(entry->d_name);
      int fd = -1;
      std::from_chars(name.data(), name.data() + name.size(), fd);
      close_if_callers(fd);
      at += entry->d_reclen;
    }
  }
}

// The library holds this process's place in shared memory by mappings without access, which a forked
// child does not get. The guard is to have them: while this lives, they are inherited.
class InheritedPlaces {
 public:
  InheritedPlaces() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      const std::size_t rights = line.find(' ') + 1;
      if (line.compare(rights, 4, "---s") != 0) continue;
      std::uintptr_t begin = 0;
      std::uintptr_t end = 0;
      const auto [dash, error] = std::from_chars(line.data(), line.data() + line.size(), begin, 16);
      std::from_chars(dash + 1, line.data() + line.size(), end, 16);
      if (error == std::errc()) places_.emplace_back(begin, end - begin);
    }
    advise(MADV_DOFORK);
  }
  InheritedPlaces(const InheritedPlaces&) = delete;
  InheritedPlaces& operator=(const InheritedPlaces&) = delete;
  ~InheritedPlaces() { advise(MADV_DONTFORK); }

 private:
  void advise(int how) const noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how they are listed
    for (const auto& [at, size] : places_) madvise(reinterpret_cast<void*>(at), size, how);
  }

  std::vector<std::pair<std::uintptr_t, std::size_t>> places_;
};

// True: nobody has the other end any more. False: a byte says that all is well.
bool is_abandoned(int pipe) noexcept {
  char byte = 0;
  ssize_t size = 0;
  do size = read(pipe, &byte, 1);
  while (size < 0 && errno == EINTR);
  return size == 0;
}

// At once, and not politely: whoever killed airlock was not either. A group is reached as a whole
// on Linux 6.9 and later, which no fork escapes.
void kill_all(const ProcessTree& tree) noexcept {
  for (int round = 0; round < kRounds; ++round) {
    const int found = signal_tree(tree, SIGKILL);
    if (tree.group != 0) {
      syscall(SYS_pidfd_send_signal, tree.ancestor_fd, SIGKILL, nullptr,
              PIDFD_SIGNAL_PROCESS_GROUP);
    }
    syscall(SYS_pidfd_send_signal, tree.ancestor_fd, SIGKILL, nullptr, 0);
    if (found <= 0) return;
    if (round > 0) nanosleep(&kPause, nullptr);
  }
}

}  // namespace

Guard::Guard() : read_end_(-1), write_end_(-1) {
  std::array<int, 2> ends{-1, -1};
  const int result = pipe2(ends.data(), O_CLOEXEC);
  read_end_ = Descriptor::checked(result == 0 ? ends[0] : -1, "for the guard");
  write_end_ = Descriptor(ends[1]);
}

bool Guard::start(const Charge& charge) {
  const ProcessTree tree{
      .ancestor = charge.command,
      .ancestor_fd = static_cast<int>(syscall(SYS_pidfd_open, charge.command, 0)),
      .group = charge.group,
      .session = getsid(0),
      .mark = charge.mark};
  const Descriptor command(tree.ancestor_fd);
  if (tree.ancestor_fd < 0) return false;
  const InheritedPlaces places;
  // Without the handlers of the library, which would close its files.
  pid_ = _Fork();
  if (pid_ == 0) {
    close(write_end_.get());
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    setsid();
    prctl(PR_SET_NAME, "airlock-guard");
    close_files_of_caller();
    (void)!chdir("/");
    if (is_abandoned(read_end_.get())) kill_all(tree);
    _exit(0);
  }
  if (pid_ < 0) pid_ = 0;
  return pid_ != 0;
}

Guard::~Guard() {
  if (pid_ != 0) (void)!write(write_end_.get(), "", 1);
}

}  // namespace airlock::cli
