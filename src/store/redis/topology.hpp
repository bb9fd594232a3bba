#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/redis/notify/subscription.hpp"
#include "store/redis/options.hpp"
#include "store/redis/pool.hpp"
#include "store/redis/slot.hpp"

namespace airlock::redis {

// A server, or the place of one that others may take.
struct Node {
  Node(Pool::Locate locate, const Options& options, std::shared_ptr<const Sentinels> sentinels);

  [[nodiscard]] static std::shared_ptr<Node> make(
      Pool::Locate locate, const Options& options,
      std::shared_ptr<const Sentinels> sentinels = nullptr);

  Pool pool;
  Subscription subscription;
};

using NodePtr = std::shared_ptr<Node>;

// Which server has what. Safe to use from any thread.
class Topology {
 public:
  Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  virtual ~Topology() = default;

  [[nodiscard]] static std::unique_ptr<Topology> make(const Options& options);

  // Whether another server may take over, so that asking again is worth it until the deadline.
  [[nodiscard]] virtual bool may_change() const noexcept = 0;
  // Whether there are several, each with slots of its own, that send callers to each other.
  [[nodiscard]] virtual bool has_slots() const noexcept { return false; }

  // Which server has the slot, without asking anybody; 0: not known, or there is only one.
  [[nodiscard]] virtual std::uint64_t server_of(HashSlot /*slot*/) { return 0; }

  // StoreError: nobody says.
  [[nodiscard]] virtual NodePtr node_of(HashSlot slot, const Deadline& deadline) = 0;
  [[nodiscard]] virtual std::vector<NodePtr> all(const Deadline& deadline) = 0;

  // A server said that another has the slot: from now on, or for this once.
  virtual void move(HashSlot slot, const Address& to) = 0;
  [[nodiscard]] virtual NodePtr node_at(const Address& address) = 0;
  // One did not answer: what is known may be out of date.
  virtual void invalidate(const Deadline& deadline) noexcept = 0;

  virtual void stop() noexcept = 0;
};

}  // namespace airlock::redis
