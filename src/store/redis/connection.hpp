#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/redis/reply.hpp"
#include "store/redis/socket.hpp"
#include "store/redis/tls.hpp"

namespace airlock::redis {

// Commands in the form that goes over the network.
class Commands {
 public:
  void begin(std::size_t arguments);
  Commands& add(std::string_view argument);
  void add_all(std::initializer_list<std::string_view> command);

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  std::string bytes_;
};

// One connection to one server, authenticated. One thread at a time; after anything has thrown it is
// broken and must be thrown away: a late reply would be taken for the answer to the next command.
class Connection {
 public:
  // Connects, authenticates, selects the database and says its name.
  Connection(const Address& address, const TlsContext* tls, std::string_view name,
             const Deadline& deadline);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (is_broken()) socket_.discard();
  }

  // Nothing has happened if this throws before the first byte is out; afterwards it is not known.
  void send(const std::string& bytes, const Deadline& deadline, std::size_t replies = 1);
  [[nodiscard]] Reply read(const Deadline& deadline);

  // The reply of one command; an error reply is returned, not thrown.
  [[nodiscard]] Reply ask(const Commands& commands, const Deadline& deadline) {
    send(commands.bytes(), deadline);
    return read(deadline);
  }

  // For a subscription: takes in what has arrived, and gives out what is complete.
  void receive();
  [[nodiscard]] std::optional<Reply> next();
  [[nodiscard]] int fd() const noexcept { return socket_.fd(); }
  void end() noexcept { socket_.end(); }  // Whoever receives next finds it so.

  // For a pipeline: the parts of send() and read(). One thread may write while another reads; all others
  // are for one at a time.
  using Buffer = std::array<char, 16384>;
  [[nodiscard]] std::size_t write_some(std::string_view bytes) { return socket_.write_some(bytes); }
  [[nodiscard]] bool wait_to_write(const Deadline& deadline) const {
    return socket_.wait_to_write(deadline);
  }
  [[nodiscard]] std::size_t read_by(const Deadline& deadline, Buffer& buffer) {
    return socket_.read_by(deadline, buffer);
  }
  [[nodiscard]] std::string to_wire(std::string bytes);  // As it is written.
  void take_in(Buffer& buffer, std::size_t got);         // As it was read.
  void discard() noexcept { broken_ = true; }  // What was written and has not arrived never does.

  [[nodiscard]] bool is_broken() const noexcept { return broken_ || awaited_ != 0; }
  [[nodiscard]] bool is_stale() const noexcept { return socket_.is_stale(); }

  // The server may be told to evict what is admitted while this is connected. Whether it is time to
  // ask it for that (INFO memory), and what it says. If it may, nobody should use this any more: who
  // connects again is refused.
  [[nodiscard]] bool is_check_due() const noexcept { return Deadline::Clock::now() >= next_check_; }
  void begin_check() noexcept { next_check_ = Deadline::Clock::time_point::max(); }
  void note_memory(const Reply& info) noexcept;
  [[nodiscard]] bool may_evict() const noexcept { return may_evict_; }

  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }  // For messages.

 private:
  void shake_hands(const Deadline& deadline);
  void introduce(const Address& address, std::string_view name, const Deadline& deadline);
  void send_introduction(const Address& address, const std::string& password, std::string_view name,
                         const Deadline& deadline);
  [[nodiscard]] Reply first_reply(const Deadline& deadline);
  void write(std::string_view bytes, const Deadline& deadline);

  void receive(const Deadline& deadline, const char* nothing);  // Waits for it.

  const std::string host_;
  const std::string where_;
  Socket socket_;
  std::optional<Tls> tls_;
  ReplyReader reader_;
  std::size_t awaited_ = 0;  // Replies.
  const Duration eviction_check_;
  Deadline::Clock::time_point next_check_ = Deadline::Clock::time_point::max();
  bool may_evict_ = false;
  bool shaken_ = false;
  bool broken_ = false;
};

}  // namespace airlock::redis
