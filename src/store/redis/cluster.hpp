#pragma once

#include <array>
#include <condition_variable>
#include <map>

#include "base/locks.hpp"
#include "store/redis/topology.hpp"

namespace airlock::redis {

// The servers of a Redis Cluster: a map of the slots that is asked for when it is first needed, and
// again when a server was missing or sent somebody on, of servers known and of those that the URI names.
// A server that has left is forgotten.
class Cluster final : public Topology {
 public:
  explicit Cluster(Options options) : options_(std::move(options)) {}

  bool may_change() const noexcept override { return true; }
  bool has_slots() const noexcept override { return true; }
  std::uint64_t server_of(HashSlot slot) override;
  NodePtr node_of(HashSlot slot, const Deadline& deadline) override;
  std::vector<NodePtr> all(const Deadline& deadline) override;
  void move(HashSlot slot, const Address& to) override;
  NodePtr node_at(const Address& address) override;
  void invalidate(const Deadline& deadline) noexcept override;
  void stop() noexcept override;

 private:
  using Nodes = std::map<std::string, NodePtr, std::less<>>;  // By the text of their address.

  [[nodiscard]] bool begins_refresh(const Deadline& deadline) AIRLOCK_EXCLUDES(mutex_);
  void take_in(const Reply& slots, const std::string& host_asked) AIRLOCK_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<Address> who_to_ask() AIRLOCK_EXCLUDES(mutex_);
  [[nodiscard]] NodePtr find_or_add(const Address& address) AIRLOCK_REQUIRES(mutex_);

  const Options options_;

  base::StdMutex mutex_;
  bool is_refreshing_ AIRLOCK_GUARDED_BY(mutex_) =
      false;  // One at a time; the others use what it found.
  std::condition_variable refreshed_;
  Deadline::Clock::time_point last_refresh_ AIRLOCK_GUARDED_BY(mutex_){};
  Nodes nodes_ AIRLOCK_GUARDED_BY(mutex_);
  std::map<std::string, Address, std::less<>> addresses_ AIRLOCK_GUARDED_BY(mutex_);
  std::array<NodePtr, kHashSlots> owners_ AIRLOCK_GUARDED_BY(mutex_);
  Failure last_failure_ AIRLOCK_GUARDED_BY(mutex_){
      .text = "redis: no server of the cluster answers"};
  bool stopped_ AIRLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace airlock::redis
