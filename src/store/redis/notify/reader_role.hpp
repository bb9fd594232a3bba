#pragma once

#include "store/redis/notify/event_fd.hpp"

namespace airlock::redis {

class MessageStream;

// What the two that may read poll. Safe to use from any thread.
struct ReaderEvents {
  EventFd thread;
  EventFd sleeper;
};

// Who reads the stream of a subscription: at most one thread at a time, and where nobody is to be told
// nobody, so that the subscription's thread looks once a second. notifications.hpp draws the states.
// Guarded by the subscription's lock.
class ReaderRole {
 public:
  explicit ReaderRole(const ReaderEvents& events) noexcept : events_(events) {}

  // From open() to close() the stream may be taken over. After close() a sleeper may still have it,
  // and is on its way to hand it back.
  void open(MessageStream& stream) noexcept { stream_ = &stream; }
  void close() noexcept;
  [[nodiscard]] bool is_taken_over() const noexcept { return reader_ == Reader::sleeper; }

  // For the subscription's thread, which becomes the reader where there is none.
  [[nodiscard]] bool is_for_thread() noexcept;
  void call_thread() const noexcept;  // Where nobody reads.

  // For a thread that sleeps. Null: it is not to be had.
  [[nodiscard]] MessageStream* take_over() noexcept;
  void hand_back() noexcept { reader_ = Reader::nobody; }
  void call_back() const noexcept;  // Asks for it.

 private:
  enum class Reader { nobody, thread, sleeper };

  Reader reader_ = Reader::nobody;
  MessageStream* stream_ = nullptr;
  const ReaderEvents& events_;
};

}  // namespace airlock::redis
