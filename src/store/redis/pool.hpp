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
#include "base/locks.hpp"
#include "base/thread_annotations.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/pipeline.hpp"
#include "store/redis/slot.hpp"

namespace airlock::redis {

// The connections of one process to one server, or to whichever has its place now; callers share them.
// What concerns one gate always goes by the same connection, so that it arrives in the order in which it was
// written: an undo behind what it undoes, also where nobody waits for the reply any more. Opened when needed;
// closed when unused for a while. Safe to use from any thread.
class Pool {
 public:
  // Where the server is; called whenever a connection is opened.
  using Locate = std::function<Address(const Deadline& deadline)>;

  struct Limits {
    std::uint32_t most;     // Connections.
    std::string name;       // Of each, for people at the server.
    Duration timeout;       // A server that is silent for longer is down.
    Duration longest_rest;  // Between attempts to connect while it cannot be reached.
    std::uint32_t replicas_ack;
  };
  Pool(Locate locate, Limits limits);

  // A connection to use until this goes out of scope, with others; then it is kept for the next, unless it
  // broke.
  class Lent {
   public:
    Lent(Pool& pool, std::shared_ptr<Pipeline> pipeline) noexcept
        : pool_(pool), pipeline_(std::move(pipeline)) {}
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    ~Lent() { pool_.give(pipeline_); }
    Pipeline* operator->() noexcept { return pipeline_.get(); }
    Pipeline& operator*() noexcept { return *pipeline_; }

   private:
    Pool& pool_;
    const std::shared_ptr<Pipeline> pipeline_;
  };

  // The one for the gates of a slot. StoreError: what keeps it from connecting, at once if that was so a
  // moment ago or somebody else is just trying it again.
  [[nodiscard]] Lent take(HashSlot slot, const Deadline& deadline);

  // One more, beside the bound, of the caller's own: for a subscription.
  [[nodiscard]] std::unique_ptr<Connection> open(const Deadline& deadline);

  // How many take() has opened so far.
  [[nodiscard]] std::uint64_t opened() const noexcept { return opened_; }

  // Whoever asks next connects again: after a refusal that says that this is the wrong server, or the
  // wrong moment.
  void reconnect() noexcept;

 private:
  struct Lane {
    std::shared_ptr<Pipeline> pipeline;  // Null: not open, or no more to be used.
    bool is_opening = false;
  };

  void give(const std::shared_ptr<Pipeline>& pipeline) noexcept AIRLOCK_EXCLUDES(mutex_);
  void drop_unusable(Lane& lane) AIRLOCK_REQUIRES(mutex_);
  void open_lane(Lane& lane, const Deadline& deadline) AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] std::unique_ptr<Connection> open_in_turn(const Deadline& deadline);
  void note_silence(const Pipeline& pipeline) AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] StoreError not_tried() const AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] const TlsContext* tls(const Address& address);

  const Locate locate_;
  const Limits limits_;

  std::atomic<std::uint64_t> opened_ = 0;

  base::StdMutex mutex_;
  std::condition_variable opening_ended_;
  std::vector<Lane> lanes_ AIRLOCK_GUARDED_BY(mutex_);  // And how many users each pipeline has.
  Deadline::Clock::time_point next_sweep_ AIRLOCK_GUARDED_BY(mutex_){};
  std::optional<TlsContext> tls_ AIRLOCK_GUARDED_BY(mutex_);

  // Between attempts to connect after the server could not be reached: refused, cut off, silent, or
  // serving nobody (loading, a replica). Never after any other answer.
  base::Breaker breaker_;
  Failure last_failure_ AIRLOCK_GUARDED_BY(mutex_);
};

}  // namespace airlock::redis
