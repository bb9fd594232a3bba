#include "store/redis/support/slow_link.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "airlock/error.hpp"

namespace airlock::testing {

using namespace std::chrono_literals;

struct SlowLink::Pair {
  Pair(int its_client, const redis::Address& address)
      : client(its_client), server(address, redis::Deadline(Duration(5s))) {}
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    shutdown(client, SHUT_RDWR);
    close(client);
  }

  int client;
  redis::Socket server;
  Way there{client, server.fd()};
  Way back{server.fd(), client};
};

SlowLink::SlowLink(redis::Address server, std::chrono::milliseconds round_trip,
                   const FreePort& port)
    : port_(port.number()), delay_(round_trip / 2), server_(std::move(server)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port_);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 ||
      listen(listener_, 64) != 0) {
    throw std::runtime_error("cannot listen on port " + port.text());
  }
  thread_ = std::thread([this] { run(); });
}

SlowLink::~SlowLink() {
  stopping_ = true;
  thread_.join();
  close(listener_);
}

void SlowLink::lead_to(const redis::Address& server) {
  const std::lock_guard lock(mutex_);
  server_ = server;
}

void SlowLink::accept_one() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  try {
    const std::lock_guard lock(mutex_);
    pairs_.push_back(std::make_unique<Pair>(client, server_));
  } catch (const Error&) {
    close(client);
  }
}

// False: one of the two has ended it.
bool SlowLink::pass(Way& way, Clock::time_point now, bool readable) {
  if (readable) {
    std::array<char, 65536> buffer;
    const ssize_t got = recv(way.from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
    if (got > 0) {
      way.pieces.push_back(
          {now + delay_, std::string(buffer.data(), static_cast<std::size_t>(got))});
    }
  }
  while (!way.pieces.empty() && way.pieces.front().due <= now) {
    const std::string& bytes = way.pieces.front().bytes;
    if (send(way.to, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return false;
    way.pieces.pop_front();
  }
  return true;
}

void SlowLink::run() {
  while (!stopping_) {
    std::vector<pollfd> waiting = {{listener_, POLLIN, 0}};
    bool holds = false;
    for (const auto& pair : pairs_) {
      waiting.push_back({pair->client, POLLIN, 0});
      waiting.push_back({pair->server.fd(), POLLIN, 0});
      holds = holds || !pair->there.pieces.empty() || !pair->back.pieces.empty();
    }
    (void)poll(waiting.data(), waiting.size(), holds ? 1 : 20);
    const auto now = Clock::now();
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      Pair& pair = *pairs_[i];
      const bool open = pass(pair.there, now, waiting[1 + 2 * i].revents != 0) &&
                        pass(pair.back, now, waiting[2 + 2 * i].revents != 0);
      if (!open) pairs_[i].reset();
    }
    std::erase(pairs_, nullptr);
    if (waiting[0].revents != 0) accept_one();
  }
}

}  // namespace airlock::testing
