#pragma once

#include <functional>
#include <memory>

namespace airlock::server {

class Loop;

// Where steps of the store are run: at once where they never block, else on threads of their own, so that no loop waits
// for the network.
class Steps {
 public:
  explicit Steps(bool is_local);
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  ~Steps();  // Waits for those that run.

  // Runs `work`, which throws nothing, and then `then` on the loop, which calls this.
  void run(Loop& loop, std::function<void()> work, std::function<void()> then = {});

 private:
  struct Pool;

  std::unique_ptr<Pool> pool_;  // None where the store is local.
};

}  // namespace airlock::server
