#include "store/redis/socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/posix.hpp"
#include "store/redis/dial.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

void set(int fd, int level, int name, int value) noexcept {
  (void)setsockopt(fd, level, name, &value, sizeof(value));
}

// A half-open connection is noticed although nobody asks anything on it.
void set_tcp_options(int fd, Duration timeout) noexcept {
  constexpr int kIdleSeconds = 5;
  constexpr int kProbes = 3;
  constexpr std::int64_t kLongestTimeout = 3'600'000;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
      static_cast<int>(std::clamp<std::int64_t>(ms, 1, kLongestTimeout)));
}

bool wait_to_write(int fd, const Deadline& deadline) {
  pollfd waiting{fd, POLLOUT, 0};
  for (;;) {
    const auto left = deadline.left();
    const timespec time{static_cast<time_t>(left.count() / 1'000'000'000),
                        static_cast<long>(left.count() % 1'000'000'000)};
    const int ready = ppoll(&waiting, 1, &time, nullptr);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) base::throw_errno("poll", errno);
  }
}

}  // namespace

Socket::Socket(const Address& address, const Deadline& deadline)
    : descriptor_(dial(address, deadline)) {
  if (address.path.empty()) set_tcp_options(fd(), address.timeout);
  if (fcntl(fd(), F_SETFL, 0) != 0) base::throw_errno("fcntl", errno);  // From now on it may sleep.
}

std::size_t Socket::write_some(std::string_view bytes) {
  const ssize_t sent = send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN || errno == EINTR) return 0;
  throw unavailable("the connection broke: " + text_of(errno));
}

std::size_t Socket::read_some(std::span<char> into) { return read(into, MSG_DONTWAIT); }

std::size_t Socket::read_by(const Deadline& deadline, std::span<char> into) {
  std::size_t got = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.left());
    if (left.count() == 0) return read_some(into);
    if (left != patience_) set_patience(left);
    got = read(into, 0);
  } while (got == 0);
  return got;
}

void Socket::set_patience(std::chrono::milliseconds patience) {
  const timeval time{.tv_sec = patience.count() / 1'000,
                     .tv_usec = patience.count() % 1'000 * 1'000};
  if (setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) != 0) {
    throw unavailable("the connection broke: " + text_of(errno));
  }
  patience_ = patience;
}

std::size_t Socket::read(std::span<char> into, int flags) {
  const ssize_t got = recv(fd(), into.data(), into.size(), flags);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0) throw unavailable("the server closed the connection");
  if (errno == EAGAIN || errno == EINTR) return 0;
  throw unavailable("the connection broke: " + text_of(errno));
}

bool Socket::wait_to_write(const Deadline& deadline) const {
  return redis::wait_to_write(fd(), deadline);
}

void Socket::discard() noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

void Socket::end() noexcept { (void)shutdown(fd(), SHUT_RDWR); }

bool Socket::is_stale() const noexcept {
  char byte = 0;
  const ssize_t got = recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || errno != EAGAIN;
}

}  // namespace airlock::redis
