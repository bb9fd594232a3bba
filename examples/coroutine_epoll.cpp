// A server on one thread: epoll waits for everything, and requests are coroutines.
// expect: request 1: in
// expect: request 2: in
// expect: tick: request 1 is done
// expect: request 3: in
// expect: tick: request 4 is done
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <coroutine>
#include <cstdint>
#include <deque>
#include <exception>
#include <iostream>

#include "airlock/airlock.hpp"
#include "airlock/coro.hpp"

namespace {

// NOLINTBEGIN(readability-identifier-naming,readability-static-accessed-through-instance): the
// language names and calls them so
struct Request {  // What a coroutine returns that begins at once and ends by itself.
  struct promise_type {
    static Request get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() noexcept { std::terminate(); }
  };
};

struct Inside {
  int number;
  airlock::Lease lease;
};

// [request]
Request handle(const airlock::Airlock& erp, const airlock::Mailbox& mailbox,
               std::deque<Inside>& inside, int number) {
  auto lease = co_await airlock::async_enter(erp, mailbox);  // Continues in mailbox.run().
  if (!lease) co_return;                                     // lease.error() says why.
  std::cout << "request " << number << ": in\n";
  inside.push_back({number, std::move(*lease)});
}
// [/request]
// NOLINTEND(readability-identifier-naming,readability-static-accessed-through-instance)

void watch(int epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int ticking(long milliseconds) {
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec every{{0, milliseconds * 1'000'000}, {0, milliseconds * 1'000'000}};
  timerfd_settime(fd, 0, &every, nullptr);
  return fd;
}

}  // namespace

int main() {
  auto store = airlock::open_store("memory:");
  airlock::Airlock erp{store, "legacy-erp", {.limit = 2}};
  airlock::Mailbox mailbox;
  std::deque<Inside> inside;

  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int tick = ticking(5);
  for (int number = 1; number <= 4; ++number) handle(erp, mailbox, inside, number);

  // [loop]
  watch(epoll, mailbox.fd());
  watch(epoll, tick);
  for (int done = 0; done < 4;) {
    epoll_event event{};
    if (epoll_wait(epoll, &event, 1, -1) != 1) continue;
    if (event.data.fd == mailbox.fd()) mailbox.run();
    if (event.data.fd == tick) {
      std::uint64_t times = 0;
      (void)!read(tick, &times, sizeof times);
      if (inside.empty()) continue;
      std::cout << "tick: request " << inside.front().number << " is done\n";
      inside.pop_front();  // Its lease is released, and the next request is in.
      ++done;
    }
  }
  // [/loop]
  close(tick);
  close(epoll);
}
