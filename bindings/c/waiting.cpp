#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

#include "internal.hpp"

namespace airlock::c {

// --- Descriptors ---

namespace {

// Not one that a program without stdin, stdout or stderr would print to.
int above_stdio(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(fd);
  return moved;
}

}  // namespace

EventFd::EventFd() : fd_(above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE))) {
  if (fd_ >= 0) return;
  throw StoreError(
      StoreError::Kind::no_room, StoreError::Outcome::nothing_happened,
      std::string("no descriptor for a mailbox: ") + std::generic_category().message(errno));
}

EventFd::~EventFd() { ::close(fd_); }

void EventFd::add_one() const noexcept {
  const std::uint64_t one = 1;
  (void)!write(fd_, &one, sizeof one);
}

void EventFd::take_one() const noexcept {
  std::uint64_t one = 0;
  (void)!read(fd_, &one, sizeof one);
}

// --- Forked children ---

namespace {

std::atomic<std::uint64_t> g_generation{1};

// Still reachable, so that nobody takes it for lost.
struct Inherited {
  std::shared_ptr<void> object;
  Inherited* next;
};
std::atomic<Inherited*> g_inherited{nullptr};

const int kRegistered = pthread_atfork(nullptr, nullptr, [] { ++g_generation; });

}  // namespace

std::uint64_t process_generation() noexcept {
  (void)kRegistered;
  return g_generation.load(std::memory_order_relaxed);
}

void leave_to_parent(std::shared_ptr<void> inherited) noexcept {
  auto* const kept = new Inherited{std::move(inherited), g_inherited.load()};
  while (!g_inherited.compare_exchange_weak(kept->next, kept)) {
  }
}

// --- Waits that a signal ends ---

namespace {

struct Answered {
  const EventFd fd;
  std::mutex mutex;
  std::optional<Arrival> arrival;

  std::optional<Arrival> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(arrival, std::nullopt);
  }
};

// False: a signal came first.
bool await(const Answered& answered) {
  pollfd ready{.fd = answered.fd.get(), .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, -1) >= 0) return true;
  if (errno == EINTR) return false;
  throw std::runtime_error(std::string("poll: ") + std::generic_category().message(errno));
}

}  // namespace

std::optional<Outcome<Lease>> enter_interruptibly(const Airlock& airlock, const Ask& ask,
                                                  Duration max_wait) {
  std::shared_ptr<Answered> answered;
  auto begun = airlock.begin_enter(max_wait, ask, [&]() -> Airlock::Callback {
    answered = std::make_shared<Answered>();
    return [answered](Arrival& arrival) {
      const std::lock_guard lock(answered->mutex);
      answered->arrival.emplace(std::move(arrival));
      answered->fd.add_one();
    };
  });
  if (auto* outcome = std::get_if<Outcome<Lease>>(&begun)) return std::move(*outcome);

  auto& pending = std::get<PendingEntry>(begun);
  if (!await(*answered)) pending = {};  // From here on nothing arrives.
  std::optional<Arrival> arrival = answered->take();
  if (!arrival) return std::nullopt;
  return arrival->take();
}

}  // namespace airlock::c
