// Coroutines of Boost.Asio: two requests wait for one slot; the first is cancelled.
// expect: request 1: late
// expect: request 2: in
#include "airlock/asio.hpp"

#include <boost/asio.hpp>
#include <iostream>
#include <stop_token>

#include "airlock/airlock.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

asio::awaitable<void> sleep(airlock::Duration time) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_after(time);
  co_await timer.async_wait(asio::use_awaitable);
}

// [request]
asio::awaitable<void> handle(airlock::Airlock erp, std::stop_token stop, int number) {
  const airlock::Ask ask{.stop = stop};
  auto lease = co_await airlock::async_enter(erp, ask, asio::use_awaitable);
  if (!lease) {
    std::cout << "request " << number << ": " << airlock::to_text(lease.error().reason) << "\n";
    co_return;
  }
  std::cout << "request " << number << ": in\n";
  co_await sleep(1ms);  // The query. The lease is released at the end.
}
// [/request]

}  // namespace

int main() {
  // [main]
  auto store = airlock::open_store("memory:");
  airlock::Airlock erp{store, "legacy-erp", {.limit = 1}};
  auto busy = erp.try_enter();

  asio::io_context io;
  std::stop_source cancel;
  asio::co_spawn(io, handle(erp, cancel.get_token(), 1),
                 [&](std::exception_ptr) { busy->release(); });
  asio::co_spawn(io, handle(erp, {}, 2), asio::detached);
  asio::post(io, [&] { cancel.request_stop(); });
  io.run();
  // [/main]
}
