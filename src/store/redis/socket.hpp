#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "store/redis/address.hpp"
#include "store/redis/deadline.hpp"
#include "store/redis/descriptor.hpp"

namespace airlock::redis {

// A connected socket that never blocks past a deadline. Everything throws StoreError. SocketDescriptor
// says what a forked child does.
class Socket {
 public:
  Socket(const Address& address, const Deadline& deadline);

  [[nodiscard]] int fd() const noexcept { return descriptor_.get(); }

  // As much as goes out now; 0: it would block.
  [[nodiscard]] std::size_t write_some(std::string_view bytes);

  // As much as is there now; nothing: it would block. A closed connection throws.
  [[nodiscard]] std::size_t read_some(std::span<char> into);

  // Sleeps until there is something; nothing: the deadline came first. To wait first and read then would
  // cost a tenth of a round trip.
  [[nodiscard]] std::size_t read_by(const Deadline& deadline, std::span<char> into);

  // False: the deadline came first.
  [[nodiscard]] bool wait_to_write(const Deadline& deadline) const;

  // Nothing passes any more, in either direction.
  void end() noexcept;

  // What has not reached the server yet never does: a command whose caller has given up must not
  // arrive after what undoes it.
  void discard() noexcept;

  // Whether the other side has closed it, or said something that nobody asked for.
  [[nodiscard]] bool is_stale() const noexcept;

 private:
  void set_patience(std::chrono::milliseconds patience);
  [[nodiscard]] std::size_t read(std::span<char> into, int flags);

  SocketDescriptor descriptor_;
  std::chrono::milliseconds patience_{0};  // How long it sleeps in a read at most.
};

}  // namespace airlock::redis
