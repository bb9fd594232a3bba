#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "base/fork.hpp"

namespace airlock::internal {

// The callbacks of a mailbox. The eventfd counts them; a forked child shares it with its parent, and
// leaves it alone.
class MailboxState {
 public:
  MailboxState();
  MailboxState(const MailboxState&) = delete;
  MailboxState& operator=(const MailboxState&) = delete;
  ~MailboxState();

  [[nodiscard]] int fd() const noexcept { return fd_; }
  void post(std::function<void()> callback);
  std::size_t run();
  void close() noexcept;  // What is posted from now on is destroyed.

 private:
  [[nodiscard]] bool is_own() const noexcept { return generation_ == base::fork_generation(); }

  std::uint64_t generation_ = base::fork_generation();
  int fd_;
  std::mutex mutex_;
  bool closed_ = false;
  std::deque<std::function<void()>> callbacks_;
};

}  // namespace airlock::internal
