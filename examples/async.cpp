// An event loop that never blocks: a descriptor becomes readable when it is somebody's turn.
// expect: first: in
// expect: second: waits
// expect: tick: the loop goes on
// expect: second: in
// expect: third: late
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <optional>

#include "airlock/airlock.hpp"

using namespace std::chrono_literals;

namespace {

// A loop as any program has one: what to call when a descriptor is readable.
class Loop {
 public:
  void on_readable(int fd, std::function<void()> handler) { handlers_[fd] = std::move(handler); }
  void run_until(const std::function<bool()>& done) {
    while (!done()) run_once();
  }

 private:
  void run_once() {
    std::array<pollfd, 2> events{};
    nfds_t count = 0;
    for (const auto& [fd, handler] : handlers_) events.at(count++) = {fd, POLLIN, 0};
    poll(events.data(), count, -1);
    for (const pollfd& event : events) {
      if ((event.revents & POLLIN) != 0) handlers_.at(event.fd)();
    }
  }

  std::map<int, std::function<void()>> handlers_;
};

int timer(long milliseconds) {
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec once{{}, {0, milliseconds * 1'000'000}};
  timerfd_settime(fd, 0, &once, nullptr);
  return fd;
}

}  // namespace

int main() {
  auto store = airlock::open_store("memory:");
  Loop loop;

  // [loop]
  airlock::Airlock erp{store, "legacy-erp", {.limit = 1, .max_wait = 10s}};
  airlock::Mailbox mailbox;
  loop.on_readable(mailbox.fd(), [&] { mailbox.run(); });  // Callbacks run here, in the loop.
  // [/loop]

  std::optional<airlock::Lease> inside;
  int decided = 0;
  // [enter]
  const auto enter = [&](const char* who, airlock::Duration max_wait) {
    erp.enter_async_for(
        max_wait, {},
        [&, who](airlock::Arrival& arrival) {
          auto lease = arrival.take();  // As enter(): a lease, a refusal, or it throws.
          if (lease) {
            std::cout << who << ": in\n";
            inside = std::move(*lease);
          } else {
            std::cout << who << ": " << airlock::to_text(lease.error().reason) << "\n";
          }
          ++decided;
        },
        mailbox);
  };
  // [/enter]

  enter("first", 10s);
  loop.run_until([&] { return decided == 1; });
  enter("second", 10s);
  std::cout << "second: waits\n";

  const int tick = timer(1);
  loop.on_readable(tick, [&] {
    std::uint64_t times = 0;
    (void)!read(tick, &times, sizeof times);
    std::cout << "tick: the loop goes on\n";
    inside.reset();  // The first one is done: the second is in.
  });
  loop.run_until([&] { return decided == 2; });

  enter("third", 20ms);
  loop.run_until([&] { return decided == 3; });
  close(tick);
}
