#include "store/redis/support/chaos_proxy.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace airlock::testing {
namespace {

sockaddr_un name_of(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) throw std::runtime_error("path too long: " + path);
  path.copy(name.sun_path, path.size());
  return name;
}

const sockaddr* generic(const sockaddr_un& name) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
  return reinterpret_cast<const sockaddr*>(&name);
}

pid_t process_at(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer.pid;
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

ChaosProxy::ChaosProxy(std::string upstream, const std::string& folder, std::uint64_t seed)
    : upstream_(std::move(upstream)),
      path_(folder + "/proxy.sock"),
      dice_(88172645463325252U ^ seed << 1) {
  unlink(path_.c_str());
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un name = name_of(path_);
  if (bind(listener_, generic(name), sizeof(name)) != 0 || listen(listener_, 64) != 0) {
    throw std::runtime_error("cannot listen on " + path_);
  }
  thread_ = std::thread([this] { run(); });
}

ChaosProxy::~ChaosProxy() {
  stopping_ = true;
  thread_.join();
  for (Pair& pair : pairs_) close_pair(pair);
  close(listener_);
  unlink(path_.c_str());
}

std::uint64_t ChaosProxy::roll() {
  dice_ ^= dice_ << 13;
  dice_ ^= dice_ >> 7;
  dice_ ^= dice_ << 17;
  return dice_;
}

bool ChaosProxy::strikes() { return roll() % 100 < percent_; }

ChaosProxy::Fault ChaosProxy::fault_of_a_reply() {
  constexpr std::array kAny = {Fault::lose_reply, Fault::hold_reply, Fault::single_bytes,
                               Fault::slow};
  Fault fault = strikes() ? fault_.load() : Fault::none;
  if (fault == Fault::any) fault = kAny[roll() % kAny.size()];
  if (fault != Fault::none && fault != Fault::hold_request) ++faults_;
  return fault;
}

void ChaosProxy::close_pair(Pair& pair) {
  if (!pair.open) return;
  pair.open = false;
  for (const int fd : {pair.client, pair.server}) {
    shutdown(fd, SHUT_RDWR);  // A forked child may have it too.
    close(fd);
  }
}

void ChaosProxy::accept_one() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un name = name_of(upstream_);
  if (connect(server, generic(name), sizeof(name)) != 0) {
    close(client);
    close(server);
    return;
  }
  ++connections_;
  pairs_.push_back({client, server, process_at(client)});
}

void ChaosProxy::isolate(pid_t client, Way way, std::chrono::microseconds time) {
  const std::lock_guard lock(mutex_);
  isolated_.insert_or_assign(client, Isolation{way, std::chrono::steady_clock::now() + time});
}

void ChaosProxy::end_isolation() {
  const std::lock_guard lock(mutex_);
  isolated_.clear();
}

bool ChaosProxy::passes(const Pair& pair, Way way, TimePoint now) {
  if (pair.sleeps_until > now) return false;
  const std::lock_guard lock(mutex_);
  const auto found = isolated_.find(pair.process);
  if (found == isolated_.end() || found->second.until <= now) return true;
  return found->second.way != Way::both && found->second.way != way;
}

void ChaosProxy::pass_request(Pair& pair) {
  std::array<char, 65536> buffer;
  const ssize_t got = recv(pair.client, buffer.data(), buffer.size(), 0);
  if (got <= 0) return close_pair(pair);
  ++requests_;
  if (fault_ == Fault::hold_request && strikes()) {
    ++faults_;
    pair.holds_requests = true;
  }
  if (pair.holds_requests) return;
  pass_until_cut(pair, pair.server, {buffer.data(), static_cast<std::size_t>(got)},
                 request_bytes_left_);
}

void ChaosProxy::pass_until_cut(Pair& pair, int to, std::string_view bytes,
                                std::atomic<std::int64_t>& left) {
  const std::int64_t most = left;
  if (most < 0) return send_all(to, bytes);
  send_all(to, bytes.substr(0, static_cast<std::size_t>(most)));
  if (most > static_cast<std::int64_t>(bytes.size())) {
    left = most - static_cast<std::int64_t>(bytes.size());
  } else {
    left = -1;
    close_pair(pair);
  }
}

void ChaosProxy::pass_reply(Pair& pair) {
  const Fault fault = fault_of_a_reply();
  if (fault == Fault::slow) {
    pair.sleeps_until = std::chrono::steady_clock::now() + std::chrono::milliseconds(roll() % 500);
    return;
  }
  std::array<char, 65536> buffer;
  const ssize_t got = recv(pair.server, buffer.data(), buffer.size(), 0);
  if (got <= 0) return close_pair(pair);
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  if (pair.holds_replies) return;
  switch (fault) {
    case Fault::lose_one:
      fault_ = Fault::none;
      return close_pair(pair);
    case Fault::lose_reply:
      return close_pair(pair);
    case Fault::hold_reply:
      pair.holds_replies = true;
      return;
    case Fault::single_bytes:
      for (std::size_t i = 0; i < bytes.size(); ++i) send_all(pair.client, bytes.substr(i, 1));
      return;
    case Fault::garbage:
      return send_all(pair.client, "HTTP/1.1 400 Bad Request\r\n\r\n");
    case Fault::endless_array:
      return send_all(pair.client, "*2147483647\r\n");
    default:
      return pass_until_cut(pair, pair.client, bytes, reply_bytes_left_);
  }
}

void ChaosProxy::run() {
  while (!stopping_) {
    if (cuts_seen_ != cuts_) {
      cuts_seen_ = cuts_;
      for (Pair& pair : pairs_) close_pair(pair);
    }
    std::erase_if(pairs_, [](const Pair& pair) { return !pair.open; });
    std::vector<pollfd> waiting = {{listener_, POLLIN, 0}};
    const auto now = std::chrono::steady_clock::now();
    for (const Pair& pair : pairs_) {
      waiting.push_back({passes(pair, Way::to_server, now) ? pair.client : -1, POLLIN, 0});
      waiting.push_back({passes(pair, Way::to_client, now) ? pair.server : -1, POLLIN, 0});
    }
    if (poll(waiting.data(), waiting.size(), 5) <= 0) continue;
    const std::size_t count = pairs_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (waiting[1 + 2 * i].revents != 0) pass_request(pairs_[i]);
      if (pairs_[i].open && waiting[2 + 2 * i].revents != 0) pass_reply(pairs_[i]);
    }
    if (waiting[0].revents != 0) accept_one();
  }
}

}  // namespace airlock::testing
