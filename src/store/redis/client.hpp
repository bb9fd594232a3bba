#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/redis/call.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/pending_releases.hpp"
#include "store/redis/redirection.hpp"
#include "store/redis/topology.hpp"

namespace airlock::redis {

// What one process has of a Redis store: the servers and, while somebody waits, what it hears.
class Client {
 public:
  explicit Client(const Options& options);
  void stop() noexcept { topology_->stop(); }

  // One script, one round trip; two if the server does not know the script. An error reply is a
  // StoreError. Where a connection breaks, the call is made again on another one: if nothing can
  // have happened, or if it may be done twice.
  // `ahead`: calls for the same slot that are written before it, in the same round trip, and again
  // before it whenever it is made again.
  enum class RetryPolicy { always, if_nothing_happened };
  struct Ran {
    Reply reply;
    std::vector<Reply> ahead;  // May be errors.
    bool in_order = true;      // All of `ahead` was done before the call.
    bool perhaps_twice = false;
    bool acknowledged = true;  // By as many replicas as the options say, if the call asks for that.
  };
  [[nodiscard]] Ran run(const Call& call, RetryPolicy policy, const Deadline& deadline,
                        std::span<const Call> ahead = {});

  // Many in one round trip to each server, at the same time. All of them may be made twice.
  struct Batch {
    std::vector<std::optional<Reply>> replies;  // As the calls were. Empty: the failure tells why.
    std::optional<Failure> failure;
  };
  [[nodiscard]] Batch run(std::span<const Call> calls, const Deadline& deadline);

  // Whether all calls go to one server, whatever their slot.
  [[nodiscard]] bool has_one_server() const noexcept { return !topology_->has_slots(); }

  // Any other command, which may be done twice.
  [[nodiscard]] Reply ask(Node& node, const Commands& commands, const Deadline& deadline);
  [[nodiscard]] std::vector<NodePtr> nodes(const Deadline& deadline) {
    return topology_->all(deadline);
  }

  // Which server has the slot, for all that is known; 0: not known, or there is only one.
  [[nodiscard]] std::uint64_t server_of(Slot slot) { return topology_->server_of(slot); }
  [[nodiscard]] PendingReleases& pending_releases() noexcept { return pending_releases_; }

  // How many connections were opened to the one server that there is; of several nobody counts them.
  [[nodiscard]] std::uint64_t connections();

  // Where the waiters of a gate hear. Null if there is no such place yet and `make` is false.
  [[nodiscard]] std::shared_ptr<WakeChannel> channel(const GateName& gate, bool make = true);
  [[nodiscard]] std::vector<std::shared_ptr<WakeChannel>> channels();
  // Wherever the gate's waiters have heard.
  void unwatch(const GateName& gate, const std::string& key);
  [[nodiscard]] bool confirm(const std::shared_ptr<WakeChannel>& channel, const Deadline& deadline);
  // As Subscription says, where the channel hears.
  static void attend(const WakeChannel& channel);
  [[nodiscard]] static bool sleep(const WakeChannel& channel, Sleeper& sleeper, Clock& clock,
                                  Instant deadline);
  void flush(const WakeChannel& channel, const Deadline& deadline);
  // Whether a script that says something learns that nobody has heard it.
  [[nodiscard]] bool counts_hearers() const noexcept;

 private:
  struct Exchange;
  struct Part;
  struct Unanswered;

  [[nodiscard]] bool awaits_replicas(std::span<const Call* const> calls) const;
  [[nodiscard]] static std::vector<const Call*> joined(std::span<const Call> ahead,
                                                       const Call& call);
  void send_unknown_scripts(Connection& connection, std::span<const Call* const> calls, bool asking,
                            const Deadline& deadline, Exchange& done) const;
  [[nodiscard]] Exchange exchange(Connection& connection, std::span<const Call* const> calls,
                                  Call::By by, bool asking, const Deadline& deadline) const;
  [[nodiscard]] Deadline of_one_attempt(RetryPolicy policy, const Deadline& deadline) const;
  [[nodiscard]] bool is_worth_repeating(const StoreError& error, RetryPolicy policy,
                                        std::size_t attempt, const Deadline& deadline) const;
  static void check(Node& node, const std::string& where, const Reply& reply);
  [[nodiscard]] NodePtr follow(const Redirection& to, const std::string& host_asked);
  void run_part(Part& part, const Deadline& deadline) const;
  [[nodiscard]] std::vector<Part> parts_of(std::span<const Call> calls,
                                           const std::vector<std::size_t>& which,
                                           const Deadline& deadline);
  static void fail(Batch& batch, const StoreError& error);
  void take_in(Part& part, Batch& batch, Unanswered& unanswered);

  const Options options_;
  const std::string name_;  // Of this process, in channels.
  const std::unique_ptr<Topology> topology_;

  PendingReleases pending_releases_;
  std::atomic<bool> can_shard_ = true;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<WakeChannel>, std::less<>>
      channels_;  // By the tag of their slot.
};

}  // namespace airlock::redis
