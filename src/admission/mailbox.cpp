#include "airlock/mailbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "admission/mailbox_state.hpp"
#include "base/descriptor.hpp"
#include "base/posix.hpp"

namespace airlock {
namespace internal {

// A semaphore: each read takes one, so that it stays readable while a callback waits.
MailboxState::MailboxState()
    : fd_(base::above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE))) {
  if (fd_ < 0) base::throw_errno("eventfd", errno);
}

MailboxState::~MailboxState() { ::close(fd_); }

void MailboxState::post(std::function<void()> callback) {
  if (!is_own()) return;
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  callbacks_.push_back(std::move(callback));
  const std::uint64_t one = 1;
  (void)!write(fd_, &one, sizeof one);
}

std::size_t MailboxState::run() {
  if (!is_own()) return 0;
  std::size_t ran = 0;
  for (;; ++ran) {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      if (callbacks_.empty()) return ran;
      callback = std::move(callbacks_.front());
      callbacks_.pop_front();
      std::uint64_t one = 0;
      (void)!read(fd_, &one, sizeof one);
    }
    callback();
  }
}

void MailboxState::close() noexcept {
  if (!is_own()) return;
  std::deque<std::function<void()>> unused;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  unused.swap(callbacks_);
}

}  // namespace internal

Mailbox::Mailbox() : state_(std::make_shared<internal::MailboxState>()) {}
Mailbox::~Mailbox() { state_->close(); }
int Mailbox::fd() const noexcept { return state_->fd(); }
std::size_t Mailbox::run() { return state_->run(); }
std::function<void(std::function<void()>)> Mailbox::executor() const {
  return [state = state_](std::function<void()> callback) { state->post(std::move(callback)); };
}

}  // namespace airlock
