#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/locks.hpp"
#include "base/thread_annotations.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/failure.hpp"

namespace airlock::redis {

// One connection that the callers of a process share, without a thread of its own:
//
//   queued ---- a caller writes all that are queued ----> sent ---- a caller reads ----> answered
//
// A caller that finds nobody writing writes for all; a caller that waits and finds nobody reading reads for
// all. A single caller does both, as with a connection of its own. A caller that is answered, or runs out of
// time, hands its task to another that still waits. Replies come in the order of the commands, so the next reply
// belongs to the first command that is sent and not answered.
//
// Each caller keeps its own deadline. If its commands are not written yet, it takes them back; if they are, it
// leaves and its replies are dropped when they come. What it sends next comes behind them, so an undo is never
// overtaken by what it undoes. The connection is given up, with everybody's commands, only if nothing at all was
// heard since the caller's were sent.
class Pipeline {
 public:
  // `replicas_ack`: how many replicas a request that needs_ack waits for.
  Pipeline(std::unique_ptr<Connection> connection, Duration timeout, std::uint32_t replicas_ack);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  struct Request {
    std::string bytes;
    std::size_t replies = 1;
    bool needs_ack = false;
  };
  struct Response {
    std::vector<Reply> replies;  // May be errors.
    bool acknowledged = true;    // By enough replicas, if that was asked for.
  };
  // StoreError: no response; its outcome says whether the request can have been done.
  [[nodiscard]] Response exchange(Request request,
                                  const Deadline& deadline) AIRLOCK_NO_THREAD_SAFETY_ANALYSIS;

  [[nodiscard]] Reply ask(const Commands& commands, const Deadline& deadline);

  // Of the server's process; asked once. Empty: this user may not know it.
  [[nodiscard]] const std::string& run_id(const Deadline& deadline);

  // The server may have closed it, or said something that nobody asked for. REQUIRES: nobody uses it.
  [[nodiscard]] bool is_stale();
  [[nodiscard]] bool is_broken();
  // Broken because nothing was heard, long enough that the server must be down.
  [[nodiscard]] bool is_silent();

  [[nodiscard]] const std::string& host() const noexcept { return connection_->host(); }
  [[nodiscard]] const std::string& where() const noexcept { return connection_->where(); }

  // The pool's own.
  Deadline::Clock::time_point last_used{};
  std::size_t users = 0;

 private:
  using Time = Deadline::Clock::time_point;
  using Lock = std::unique_lock<base::StdMutex>;

  // The state of a caller, changed only by who has the mutex.
  static constexpr std::uint32_t kWaiting = 0;
  static constexpr std::uint32_t kCalled = 1;  // To write or read.
  // It has its response or failure, nothing here refers to it any more, and it may be gone.
  static constexpr std::uint32_t kDecided = 2;

  // Somebody in exchange(), on its stack.
  struct Caller {
    Request request;
    const Deadline& deadline;
    Response response = {};
    std::optional<Failure> failure = {};
    std::atomic<std::uint32_t> state = kWaiting;

    [[nodiscard]] bool is_decided() const noexcept {
      return state.load(std::memory_order_acquire) == kDecided;
    }
  };

  // Commands whose replies are awaited. They stay when their caller has left.
  struct Sent {
    enum class What { calls, replicas, memory } what;
    Caller* caller;
    std::size_t replies;
    Time at;
  };

  // The callers to wake once the mutex is free.
  class Wakes;

  [[nodiscard]] bool may_write() const noexcept AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] bool may_read() const noexcept AIRLOCK_REQUIRES(mutex_) {
    return !is_reading_ && !sent_.empty();
  }
  // Not analysed, as exchange(): a lock is handed to them, which they give up for a while.
  void write(Lock& lock, const Deadline& deadline,
             Wakes& wakes) noexcept AIRLOCK_NO_THREAD_SAFETY_ANALYSIS;
  void read(Lock& lock, const Deadline& deadline,
            Wakes& wakes) noexcept AIRLOCK_NO_THREAD_SAFETY_ANALYSIS;
  void gather() AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] Time first_to_need_ack() const noexcept AIRLOCK_REQUIRES(mutex_);
  void append_wait(std::string& bytes, Time now, Time first) AIRLOCK_REQUIRES(mutex_);
  void append_check(std::string& bytes, Time now) AIRLOCK_REQUIRES(mutex_);
  void deliver(Reply&& reply, Wakes& wakes) AIRLOCK_REQUIRES(mutex_);
  void deliver_ack(const Reply& reply, Wakes& wakes) AIRLOCK_REQUIRES(mutex_);
  static void decide(Caller& caller, Wakes& wakes) noexcept;
  static void decide(Caller& caller, const Failure& failure, Outcome outcome,
                     Wakes& wakes) noexcept;
  [[nodiscard]] Failure failure_here(const StoreError& error) const noexcept;
  [[nodiscard]] Failure late_here() const noexcept;
  void fail(Failure failure, Wakes& wakes) noexcept AIRLOCK_REQUIRES(mutex_);
  void leave(Caller& caller, Wakes& wakes) noexcept AIRLOCK_REQUIRES(mutex_);
  void call_another(Wakes& wakes) noexcept AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] Caller* somebody() const noexcept AIRLOCK_REQUIRES(mutex_);
  [[nodiscard]] bool is_silent_since(Time sent, Duration least) const noexcept
      AIRLOCK_REQUIRES(mutex_);

  const std::unique_ptr<Connection> connection_;
  const Duration timeout_;
  const std::uint32_t replicas_ack_;

  base::StdMutex mutex_;  // Also of the connection but for its system calls.
  std::deque<Caller*> queued_ AIRLOCK_GUARDED_BY(mutex_);
  std::deque<Sent> sent_ AIRLOCK_GUARDED_BY(mutex_);
  // They have their replies; that of WAIT is missing.
  std::vector<Caller*> unacknowledged_ AIRLOCK_GUARDED_BY(mutex_);
  // Of what was sent. A writer's own while it writes.
  std::string unsent_;
  std::size_t unsent_from_ = 0;
  bool awaits_replicas_ AIRLOCK_GUARDED_BY(mutex_) = false;  // Nothing is written behind a WAIT.
  bool is_writing_ AIRLOCK_GUARDED_BY(mutex_) = false;
  bool is_reading_ AIRLOCK_GUARDED_BY(mutex_) = false;
  bool is_silent_ AIRLOCK_GUARDED_BY(mutex_) = false;
  std::optional<Failure> failure_ AIRLOCK_GUARDED_BY(mutex_);  // Why it is broken.
  Time heard_ AIRLOCK_GUARDED_BY(mutex_);
  std::optional<std::string> run_id_ AIRLOCK_GUARDED_BY(mutex_);
};

}  // namespace airlock::redis
