#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/breaker.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {

// The connections of one process to one server, or to whichever has its place now. Starts empty, opens one when all are in use, up to
// a bound; closes those that nobody has needed for a while. Safe to use from any thread.
class Pool {
 public:
  // Where the server is; called whenever a connection is opened.
  using Locate = std::function<Address(const Deadline& deadline)>;

  // `rest`: the longest pause between attempts to connect while it cannot be reached.
  Pool(Locate locate, std::uint32_t most, std::string name, Duration rest);

  // A connection to use until it goes out of scope; then it is kept for the next, unless it broke.
  class Lent {
   public:
    Lent(Pool& pool, std::unique_ptr<Connection> connection) noexcept
        : pool_(pool), connection_(std::move(connection)) {}
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    ~Lent() { pool_.give(std::move(connection_)); }
    Connection* operator->() noexcept { return connection_.get(); }
    Connection& operator*() noexcept { return *connection_; }

   private:
    Pool& pool_;
    std::unique_ptr<Connection> connection_;
  };

  // StoreError: what keeps it from connecting, at once if that was so a moment ago or somebody else
  // is just trying it again; busy if none is given back in time.
  [[nodiscard]] Lent take(const Deadline& deadline);

  // One more, beside the bound, of the caller's own: for a subscription.
  [[nodiscard]] std::unique_ptr<Connection> open(const Deadline& deadline);

  // How many take() has opened so far.
  [[nodiscard]] std::uint64_t opened() const noexcept { return opened_; }

  // After a refusal that says that this is the wrong server, or the wrong moment.
  void drop_idle() noexcept;

 private:
  void give(std::unique_ptr<Connection> connection) noexcept;
  [[nodiscard]] std::unique_ptr<Connection> open_in_turn(const Deadline& deadline);
  void note_silence(const Connection& connection);
  [[noreturn]] void throw_not_tried();
  [[nodiscard]] const TlsContext* tls(const Address& address);

  const Locate locate_;
  const std::uint32_t most_;
  const std::string name_;

  std::atomic<std::uint64_t> opened_ = 0;

  std::mutex mutex_;
  std::condition_variable given_;
  std::vector<std::unique_ptr<Connection>> idle_;  // The last used last.
  std::uint32_t lent_ = 0;
  std::optional<TlsContext> tls_;

  // Between attempts to connect after the server could not be reached: refused, cut off, silent, or
  // serving nobody (loading, a replica). Never after any other answer.
  base::Breaker breaker_;
  Failure last_failure_;
};

}  // namespace airlock::redis
