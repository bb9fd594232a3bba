#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace airlock::keeping {

// The callbacks of a mailbox. The eventfd counts them.
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
  int fd_;
  std::mutex mutex_;
  bool closed_ = false;
  std::deque<std::function<void()>> callbacks_;
};

}  // namespace airlock::keeping
