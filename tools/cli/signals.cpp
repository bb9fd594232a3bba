#include "signals.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "command.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

constexpr std::array kHandled = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                 SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;  // NOLINT(cppcoreguidelines-pro-type-union-access)
}

bool is_fatal(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

Descriptor block_all(sigset_t& before) {
  sigset_t handled;
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  for (const int signal : kHandled) {
    if (!is_ignored(signal)) sigaddset(&handled, signal);
  }
  pthread_sigmask(SIG_BLOCK, &handled, &before);
  return Descriptor::checked(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK), "for signals");
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  Descriptor moved(std::move(other));
  std::swap(fd_, moved.fd_);
  return *this;
}

Descriptor Descriptor::checked(int fd, const char* purpose) {
  if (fd >= 0) return Descriptor(fd);
  throw Exit{kSystem, std::string("no descriptor ") + purpose + ": " + error_text(errno)};
}

Signals::Signals() : fd_(block_all(before_)) {}

std::optional<signalfd_siginfo> Signals::next() {
  signalfd_siginfo info{};
  if (read(fd(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return info;
}

int Signals::next_fatal() {
  int fatal = 0;
  while (const auto info = next()) {
    const auto signal = static_cast<int>(info->ssi_signo);
    if (is_fatal(signal)) fatal = signal;
    if (signal == SIGTSTP) stop_self();
  }
  return fatal;
}

void stop_self() noexcept {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);  // Waits until it is let in,
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);  // which is done when it goes on.
}

bool poll_readable(int fd, const Signals& signals, std::chrono::milliseconds at_most) {
  std::array<pollfd, 2> watched{{{.fd = fd, .events = POLLIN, .revents = 0},
                                 {.fd = signals.fd(), .events = POLLIN, .revents = 0}}};
  poll(watched.data(), watched.size(), static_cast<int>(at_most.count()));
  return watched[0].revents != 0;
}

}  // namespace airlock::cli
