#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "airlock/version.hpp"

namespace airlock {

namespace internal {
class MailboxState;
}

// Where callbacks wait for a thread of yours: an event loop watches the descriptor and calls run().
//
//   Mailbox mailbox;
//   erp.enter_async(ask, on_arrival, mailbox);
//   poll(mailbox.fd());  mailbox.run();
//
// Callbacks that are not run when it ends are destroyed, and what they were to get is given back. In
// a forked child it is the parent's: nothing comes, make another one.
class AIRLOCK_EXPORT Mailbox {
 public:
  Mailbox();  // StoreError if there are no more descriptors.
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox();

  // Readable while a callback waits. Close-on-exec; not to be read or closed.
  [[nodiscard]] int fd() const noexcept;

  // Runs what waits and says how many. What a callback throws passes through; the rest waits on.
  std::size_t run();

  // A function that has run() run what it is given. From any thread; it may outlive the mailbox, and
  // destroys then what it is given.
  [[nodiscard]] std::function<void(std::function<void()>)> executor() const;

 private:
  friend class Airlock;
  std::shared_ptr<internal::MailboxState> state_;
};

}  // namespace airlock
