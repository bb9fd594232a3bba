#include "store/redis/dial.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/locks.hpp"
#include "base/posix.hpp"
#include "base/thread.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {
namespace {

// --- addresses ---

struct Lookup {
  base::StdMutex mutex;
  std::condition_variable done_changed;
  bool done AIRLOCK_GUARDED_BY(mutex) = false;
  int error AIRLOCK_GUARDED_BY(mutex) = 0;
  std::vector<Endpoint> found AIRLOCK_GUARDED_BY(mutex);
};

int look_up(const std::string& host, const std::string& port, int flags,
            std::vector<Endpoint>& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  if (error != 0) return error;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> freed(list, freeaddrinfo);
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    Endpoint& endpoint = found.emplace_back();
    std::memcpy(&endpoint.address, each->ai_addr, each->ai_addrlen);
    endpoint.size = each->ai_addrlen;
  }
  return 0;
}

// A resolver knows no deadline: it gets a thread, which is left behind if it is late.
std::vector<Endpoint> resolve(const Address& address, const Deadline& deadline) {
  const std::string port = std::to_string(address.port);
  std::vector<Endpoint> numeric;
  if (look_up(address.host, port, AI_NUMERICHOST, numeric) == 0) return numeric;

  const auto lookup = std::make_shared<Lookup>();
  base::start_thread("airlock-resolve", [lookup, host = address.host, port] {
    std::vector<Endpoint> found;
    const int error = look_up(host, port, AI_ADDRCONFIG, found);
    const base::LockGuard lock(lookup->mutex);
    lookup->done = true;
    lookup->error = error;
    lookup->found = std::move(found);
    lookup->done_changed.notify_one();
  }).detach();
  base::UniqueLock lock(lookup->mutex);
  if (!lookup->done_changed.wait_until(
          lock, deadline.at(), [&]() AIRLOCK_REQUIRES(lookup->mutex) { return lookup->done; })) {
    throw unavailable("the name of " + address.text() + " was not resolved in time");
  }
  if (lookup->error != 0) {
    throw unavailable("no address of " + address.text() + ": " + gai_strerror(lookup->error));
  }
  return std::move(lookup->found);
}

Endpoint unix_endpoint(const Address& address) {
  Endpoint endpoint;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof(to.sun_path)) {
    throw unavailable("no connection to " + address.text() + ": the path of a socket has at most " +
                      std::to_string(sizeof(to.sun_path) - 1) + " bytes");
  }
  address.path.copy(to.sun_path, address.path.size());
  std::memcpy(&endpoint.address, &to, sizeof(to));
  endpoint.size = sizeof(to);
  return endpoint;
}

// --- connecting ---

// RFC 8305 says 250 ms. Where there is less time than that for each, they share it.
Duration stagger(std::size_t endpoints, const Deadline& deadline) {
  const auto share = deadline.left() / static_cast<std::int64_t>(endpoints + 1);
  return std::min<Duration>(std::chrono::milliseconds(250),
                            std::chrono::duration_cast<Duration>(share));
}

int error_of(int fd) noexcept {
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

class Dialling {
 public:
  Dialling(const std::vector<Endpoint>& endpoints, const Deadline& deadline)
      : next_(endpoints.begin()),
        end_(endpoints.end()),
        stagger_(stagger(endpoints.size(), deadline)),
        deadline_(deadline) {}

  // Null: error() says why.
  [[nodiscard]] SocketDescriptor* connect() {
    while (next_ != end_ || !pending_.empty()) {
      if (deadline_.is_over()) {
        error_ = ETIMEDOUT;
        return nullptr;
      }
      if (next_ != end_ && (pending_.empty() || next_start_.is_over())) {
        if (begin(*next_++)) return &pending_.back();
      } else if (SocketDescriptor* const connected = wait()) {
        return connected;
      }
    }
    return nullptr;
  }
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  // True: it is connected already.
  bool begin(const Endpoint& to) {
    next_start_ = Deadline(stagger_);
    const SocketDescriptor& socket = pending_.emplace_back(to.address.ss_family);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how connect() takes addresses
    const auto* const address = reinterpret_cast<const sockaddr*>(&to.address);
    if (::connect(socket.get(), address, to.size) == 0) return true;
    if (errno == EINPROGRESS) return false;
    error_ = errno == EAGAIN ? ECONNREFUSED : errno;  // A Unix socket whose backlog is full.
    pending_.pop_back();
    return false;
  }

  // Until one is connected or has failed, or it is time for the next one.
  SocketDescriptor* wait() {
    std::vector<pollfd> waiting;
    for (const SocketDescriptor& socket : pending_) waiting.push_back({socket.get(), POLLOUT, 0});
    const auto left =
        next_ == end_ ? deadline_.left() : std::min(deadline_.left(), next_start_.left());
    const auto ms = std::min<std::int64_t>(left / std::chrono::milliseconds(1) + 1, 60'000);
    if (poll(waiting.data(), waiting.size(), static_cast<int>(ms)) < 0 && errno != EINTR) {
      base::throw_errno("poll", errno);
    }
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      const int error = error_of(waiting[i].fd);
      if (error == 0) return &pending_[i];
      error_ = error;
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      next_start_ = Deadline(Duration(0));
      return nullptr;
    }
    return nullptr;
  }

  std::vector<Endpoint>::const_iterator next_;
  const std::vector<Endpoint>::const_iterator end_;
  const Duration stagger_;
  const Deadline deadline_;
  Deadline next_start_{Duration(0)};
  std::vector<SocketDescriptor> pending_;
  int error_ = EHOSTUNREACH;
};

}  // namespace

SocketDescriptor dial_any(const std::vector<Endpoint>& endpoints, const std::string& name,
                          const Deadline& deadline) {
  Dialling dialling(endpoints, deadline);
  if (SocketDescriptor* const connected = dialling.connect()) return std::move(*connected);
  throw unavailable("no connection to " + name + ": " +
                    std::generic_category().message(dialling.error()));
}

SocketDescriptor dial(const Address& address, const Deadline& deadline) {
  return dial_any(
      address.path.empty() ? resolve(address, deadline) : std::vector{unix_endpoint(address)},
      address.text(), deadline);
}

}  // namespace airlock::redis
