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

  [[nodiscard]] bool is_broken() const noexcept { return broken_ || may_evict_ || awaited_ != 0; }
  // Nothing at all was heard since the last command, for a quarter of the timeout at least: a call that
  // has less time left says nothing about the server.
  [[nodiscard]] bool is_silent() const noexcept { return is_silent_; }
  [[nodiscard]] bool is_stale() const noexcept { return socket_.is_stale(); }

  // The server may be told to evict what is admitted while this is connected. Whether it is time to
  // ask it for that (INFO memory), and what it says. If it may, this counts as broken: who connects again
  // is refused.
  [[nodiscard]] bool is_check_due() const noexcept { return Deadline::Clock::now() >= next_check_; }
  void note_memory(const Reply& info) noexcept;
  // Of the server's process; asked once. Empty: this user may not know it.
  [[nodiscard]] const std::string& run_id(const Deadline& deadline);

  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }  // For messages.

  Deadline::Clock::time_point last_used{};

 private:
  void shake_hands(const Deadline& deadline);
  void introduce(const Address& address, std::string_view name, const Deadline& deadline);
  void send_introduction(const Address& address, const std::string& password, std::string_view name,
                         const Deadline& deadline);
  [[nodiscard]] Reply first_reply(const Deadline& deadline);
  void write(std::string_view bytes, const Deadline& deadline);

  using Buffer = std::array<char, 16384>;
  void receive(const Deadline& deadline, const char* nothing);  // Waits for it.
  void take_in(Buffer& buffer, std::size_t got);

  const std::string host_;
  const std::string where_;
  std::optional<std::string> run_id_;
  Socket socket_;
  std::optional<Tls> tls_;
  ReplyReader reader_;
  std::size_t awaited_ = 0;  // Replies.
  const Duration silence_;
  Deadline::Clock::time_point sent_{};
  const Duration eviction_check_;
  Deadline::Clock::time_point next_check_ = Deadline::Clock::time_point::max();
  bool may_evict_ = false;
  bool shaken_ = false;
  bool broken_ = false;
  bool heard_ = false;  // Since the last command.
  bool is_silent_ = false;
};

}  // namespace airlock::redis
