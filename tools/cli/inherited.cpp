#include "inherited.hpp"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace airlock::cli {
namespace {

struct sigaction g_child {};
struct sigaction g_pipe {};

void open_missing(int fd) noexcept {
  if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) return;
  // The lowest free number is this one. A host without devices still has a root.
  if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) (void)open("/", O_RDONLY | O_CLOEXEC);
}

void set(int signal, void (*handler)(int), struct sigaction& before) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  sigaction(signal, &action, &before);
}

}  // namespace

void prepare_process() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) open_missing(fd);
  set(SIGCHLD, SIG_DFL, g_child);
  set(SIGPIPE, SIG_IGN, g_pipe);
}

void restore_dispositions() noexcept {
  sigaction(SIGCHLD, &g_child, nullptr);
  sigaction(SIGPIPE, &g_pipe, nullptr);
}

}  // namespace airlock::cli
