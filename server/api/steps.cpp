#include "steps.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>

#include "http/loop.hpp"

namespace airlock::server {

// They share one connection to Redis, and what they ask at the same time goes out together.
constexpr std::size_t kThreads = 16;

struct Steps::Pool {
  boost::asio::thread_pool threads{kThreads};
};

Steps::Steps(bool is_local) : pool_(is_local ? nullptr : std::make_unique<Pool>()) {}

Steps::~Steps() {
  if (pool_ != nullptr) pool_->threads.join();
}

void Steps::run(Loop& loop, std::function<void()> work, std::function<void()> then) {
  if (pool_ == nullptr) {
    work();
    if (then) then();
    return;
  }
  boost::asio::post(pool_->threads,
                    [&loop, work = std::move(work), then = std::move(then)]() mutable {
                      work();
                      work = nullptr;
                      // Also where there is nothing to do next: what `then` holds belongs to the loop.
                      loop.post([then = std::move(then)] {
                        if (then) then();
                      });
                    });
}

}  // namespace airlock::server
