#pragma once

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>

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
  std::uint64_t server_of(Slot slot) override;
  NodePtr node_of(Slot slot, const Deadline& deadline) override;
  std::vector<NodePtr> all(const Deadline& deadline) override;
  void move(Slot slot, const Address& to) override;
  NodePtr node_at(const Address& address) override;
  void invalidate(const Deadline& deadline) noexcept override;
  void stop() noexcept override;

 private:
  using Nodes = std::map<std::string, NodePtr, std::less<>>;  // By the text of their address.

  [[nodiscard]] bool begins_refresh(const Deadline& deadline);
  void take_in(const Reply& slots, const std::string& host_asked);
  [[nodiscard]] std::vector<Address> who_to_ask();
  [[nodiscard]] NodePtr find_or_add(const Address& address);

  const Options options_;

  std::mutex mutex_;
  bool is_refreshing_ = false;  // One at a time; the others use what it found.
  std::condition_variable refreshed_;
  Deadline::Clock::time_point last_refresh_{};
  Nodes nodes_;
  std::map<std::string, Address, std::less<>> addresses_;
  std::array<NodePtr, kSlots> owners_;
  Failure last_failure_{.text = "redis: no server of the cluster answers"};
  bool stopped_ = false;
};

}  // namespace airlock::redis
