#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "airlock/store.hpp"
#include "base/locks.hpp"
#include "store/redis/call.hpp"
#include "store/redis/notify/wake_channel.hpp"
#include "store/redis/options.hpp"
#include "store/redis/topology.hpp"
#include "store/sleeper.hpp"

namespace airlock::redis {

// How this process learns that something has changed for a visitor that waits: scripts publish to a
// channel of the process, which it is subscribed to while anybody waits. The parts of this folder:
//
//   Notifications   what the store uses; which channel a gate has
//   WakeChannel     a channel and its Watchers: who is to be told what, by key (visitor and gate)
//   Subscription    per server (Node): the thread `airlock-redis`, which exists while it is needed
//   ChannelTable    the channels of a subscription and their states
//   MessageStream   the connection that messages come on, and whether the server is alive
//   ReaderRole      which thread reads the stream
//   PrimaryWatch    what sentinels say of another primary
//
// A watcher (Watchers); whoever is called is called once:
//
//     expect() --> expected --watch()--> watched --message, answer, end of the channel--> called
//                   |    |                  |
//           message |    | patience ends    | unwatch()
//                   v    +--------+---------+
//               has news          v
//                   |            gone
//                   +--watch() says so--> gone
//
// A channel (SubscribedChannel), on a server's one stream:
//
//     confirm() --> wanted --SUBSCRIBE--> asked --confirmed--> listening
//                      |                    |                      | nobody to call for 10 s,
//                      | no connection      | refused              | or its slot has moved
//                      +--------------------+-----------+----------+
//                                                       v
//       the stream ends: cut off, 5 s of silence  --> over
//       and no answer to PING, another primary
//
//   When a channel is over a message may have been lost: everybody who watches there is called and
//   asks again. A message that is lost without that is found out by Backend::recheck_intervals().
//
// Who reads the stream (ReaderRole). A thread that waits alone reads by itself, so that a message
// wakes one thread instead of two:
//
//     nobody --the thread polls--> thread --await() by the only one to call--+
//      |  ^                                                                  v
//      |  +-------woken, called back, or in doubt: hands back----------- sleeper
//      +---------------await() by the only one to call-----------------------^
//
//   While nobody reads, the thread looks once a second, and is woken when there is somebody to call.
//
// Safe to use from any thread.
class Notifications {
 public:
  Notifications(Topology& topology, const Options& options)
      : topology_(topology), options_(options), naming_(options.prefix) {}

  // What a question expects to be told, from before it is sent until its answer is there.
  class Expectation {
   public:
    [[nodiscard]] bool is_heard() const noexcept { return is_heard_; }
    // What the question says; empty: nobody listens, and the visitor has to watch.
    [[nodiscard]] std::string_view channel() const noexcept {
      return is_heard_ ? std::string_view(channel_->name) : std::string_view();
    }
    // The answer says how the visitor stands: whoever watches for it is called.
    void tell_own() const {
      if (!key_.empty()) channel_->watchers.tell_own(key_);
    }

   private:
    friend class Notifications;

    std::shared_ptr<WakeChannel> channel_;
    std::string key_;  // Empty: nobody can be watching.
    bool is_heard_ = false;
  };

  // The question may put its visitor in line: what is said before watch() is kept for it.
  [[nodiscard]] Expectation expect(const Request& request);
  [[nodiscard]] Expectation expect_all(std::span<const Request> requests);

  // Before many questions that may put their visitors in line: subscribes where that saves several of
  // them a round trip of their own, in watch().
  void listen(std::span<const GateName> gates, const Deadline& deadline) noexcept;

  // `ask` tells the store where the visitor is heard, if `channel` is not empty, and returns false if
  // something has changed already. It is asked only if the visitor was not expected.
  using Ask = std::function<bool(std::string_view channel)>;

  // As Backend says.
  [[nodiscard]] bool watch(const GateName& gate, const VisitorId& visitor,
                           std::function<void()> changed, const Ask& ask);
  [[nodiscard]] bool await(const GateName& gate, const VisitorId& visitor,
                           const std::shared_ptr<Sleeper>& sleeper, Instant deadline,
                           const Ask& ask);
  void unwatch(const GateName& gate, const VisitorId& visitor);

  // A visitor has learnt by itself how it stands.
  void tell_own(const GateName& gate, const VisitorId& visitor);

  // Whether a script that says something learns that nobody has heard it.
  [[nodiscard]] bool counts_hearers() const noexcept {
    return !topology_.has_slots() || can_shard_;
  }

  // For an operator: the name of the gate's channel, and whether a server lets this process hear it.
  [[nodiscard]] std::string channel_name(const GateName& gate) { return channel(gate)->name; }
  [[nodiscard]] bool can_hear(const GateName& gate, const Deadline& deadline) {
    return confirm(channel(gate), deadline);
  }

  // Returns when everything said before has been passed on. For tests.
  void flush();

 private:
  using ChannelPtr = std::shared_ptr<WakeChannel>;

  // Null if there is no such channel yet and `make` is false.
  [[nodiscard]] ChannelPtr channel(const GateName& gate, bool make = true);
  [[nodiscard]] std::string key_of(const GateName& gate, const VisitorId& visitor) const;
  // Messages are heard from the next attend() or sleep() on.
  [[nodiscard]] bool watch_at(const ChannelPtr& channel, const std::string& key,
                              std::function<void()> changed, const Ask& ask);
  // Returns when the server has confirmed that this process hears what is said there.
  [[nodiscard]] bool confirm(const ChannelPtr& channel, const Deadline& deadline);

  Topology& topology_;
  const Options& options_;
  const Naming naming_;
  const std::string process_ = random_name();  // In the names of channels.

  [[nodiscard]] static std::string random_name();

  std::atomic<bool> can_shard_ = true;
  base::StdMutex mutex_;
  // By the tag of their slot.
  std::map<std::string, ChannelPtr, std::less<>> channels_ AIRLOCK_GUARDED_BY(mutex_);
};

}  // namespace airlock::redis
