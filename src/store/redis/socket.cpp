#include "store/redis/socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/descriptor.hpp"
#include "base/fork.hpp"
#include "base/posix.hpp"
#include "base/thread.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

// --- descriptors that a child must close ---

constexpr std::size_t kNoted = 1024;
constinit std::array<std::atomic<int>, kNoted> g_open{};  // fd + 1; 0: free.

void note_open(int fd) noexcept {
  for (auto& place : g_open) {
    int free = 0;
    if (place.load(std::memory_order_relaxed) == 0 && place.compare_exchange_strong(free, fd + 1)) {
      return;
    }
  }
}

void note_closed(int fd) noexcept {
  for (auto& place : g_open) {
    int used = fd + 1;
    if (place.load(std::memory_order_relaxed) == used && place.compare_exchange_strong(used, 0)) {
      return;
    }
  }
}

constinit std::atomic<std::uint64_t> g_noted_by{0};  // Twice the generation; odd: being closed.

// Nobody opens one of its own before the inherited ones are closed.
void close_inherited() noexcept {
  const std::uint64_t own = 2 * base::fork_generation();
  for (std::uint64_t seen = g_noted_by.load(); seen != own; seen = g_noted_by.load()) {
    if (seen == own + 1) {
      std::this_thread::yield();
      continue;
    }
    if (!g_noted_by.compare_exchange_strong(seen, own + 1)) continue;
    for (auto& place : g_open) {
      const int fd = place.exchange(0) - 1;
      if (seen != 0 && fd >= 0) close(fd);
    }
    g_noted_by.store(own);
  }
}

// --- addresses ---

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

struct Lookup {
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;
  int error = 0;
  Addresses found;
};

int look_up(const std::string& host, const std::string& port, int flags, Addresses& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  if (error == 0) found.reset(list);
  return error;
}

// A resolver knows no deadline: it gets a thread, which is left behind if it is late.
Addresses resolve(const Address& address, const Deadline& deadline) {
  const std::string port = std::to_string(address.port);
  Addresses numeric;
  if (look_up(address.host, port, AI_NUMERICHOST, numeric) == 0) return numeric;

  const auto lookup = std::make_shared<Lookup>();
  base::start_thread("airlock-resolve", [lookup, host = address.host, port] {
    Addresses found;
    const int error = look_up(host, port, AI_ADDRCONFIG, found);
    const std::lock_guard lock(lookup->mutex);
    lookup->done = true;
    lookup->error = error;
    lookup->found = std::move(found);
    lookup->done_changed.notify_one();
  }).detach();
  std::unique_lock lock(lookup->mutex);
  if (!lookup->done_changed.wait_until(lock, deadline.at(), [&] { return lookup->done; })) {
    throw silent("the name " + address.host + " is not resolved in time");
  }
  if (lookup->error != 0) throw unavailable(address.host + ": " + gai_strerror(lookup->error));
  return std::move(lookup->found);
}

// --- options ---

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

int new_socket(int family) {
  const int fd = base::above_stdio(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd < 0) base::throw_errno("socket", errno);
  return fd;
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

// 0, or why not.
int connect_one(int fd, const sockaddr* to, socklen_t size, const Deadline& deadline) {
  if (connect(fd, to, size) != 0) {
    if (errno != EINPROGRESS) return errno;
    if (!wait_to_write(fd, deadline)) return ETIMEDOUT;
    int error = 0;
    socklen_t length = sizeof(error);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
    if (error != 0) return error;
  }
  return fcntl(fd, F_SETFL, 0) == 0 ? 0 : errno;  // From now on it sleeps where it is told to.
}

[[noreturn]] void throw_not_connected(const Address& address, int error) {
  const std::string what = "no connection to " + address.text() + ": " + text_of(error);
  throw unavailable(what);
}

int connect_unix(const Address& address, const Deadline& deadline) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof(to.sun_path)) throw_not_connected(address, ENAMETOOLONG);
  address.path.copy(to.sun_path, address.path.size());
  const int fd = new_socket(AF_UNIX);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how connect() takes addresses
  const int error = connect_one(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to), deadline);
  if (error == 0) return fd;
  close(fd);
  throw_not_connected(address, error == EAGAIN ? ECONNREFUSED : error);
}

int connect_tcp(const Address& address, const Deadline& deadline) {
  const Addresses found = resolve(address, deadline);
  int error = EHOSTUNREACH;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    const int fd = new_socket(each->ai_family);
    set_tcp_options(fd, address.timeout);
    error = connect_one(fd, each->ai_addr, each->ai_addrlen, deadline);
    if (error == 0) return fd;
    close(fd);
    if (deadline.is_over()) break;
  }
  throw_not_connected(address, error);
}

}  // namespace

Socket::Socket(const Address& address, const Deadline& deadline)
    : fd_(address.path.empty() ? connect_tcp(address, deadline) : connect_unix(address, deadline)) {
  close_inherited();
  note_open(fd_);
}

Socket::~Socket() {
  note_closed(fd_);
  close(fd_);
}

std::size_t Socket::write_some(std::string_view bytes) {
  const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
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
  if (setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) != 0) {
    throw unavailable("the connection broke: " + text_of(errno));
  }
  patience_ = patience;
}

std::size_t Socket::read(std::span<char> into, int flags) {
  const ssize_t got = recv(fd_, into.data(), into.size(), flags);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0) throw unavailable("the server closed the connection");
  if (errno == EAGAIN || errno == EINTR) return 0;
  throw unavailable("the connection broke: " + text_of(errno));
}

bool Socket::wait_to_write(const Deadline& deadline) const {
  return redis::wait_to_write(fd_, deadline);
}

void Socket::end() noexcept { (void)shutdown(fd_, SHUT_RDWR); }

bool Socket::is_stale() const noexcept {
  char byte = 0;
  const ssize_t got = recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || errno != EAGAIN;
}

}  // namespace airlock::redis
