#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/support/redis_process.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock::testing {

// A cluster of three primaries with a replica each; all real, and gone with this. They notice a
// lost node after a second. Kills and starts are for one thread, which must outlive them; slots may
// be moved by another.
class RedisCluster {
 public:
  using Slot = std::uint16_t;
  static constexpr std::size_t kPrimaries = 3;
  static constexpr std::size_t kNodes = 2 * kPrimaries;

  // `options`: of every server.
  explicit RedisCluster(std::vector<std::string> options = {});

  // Returns when every node that runs says that all is well, and the same as the others.
  void wait_until_ready();

  // `options`: as in a store URI, `timeout=1s&prefix=x`. It names two of the nodes.
  [[nodiscard]] std::string uri(const std::string& options = "") const;

  [[nodiscard]] RedisProcess& node(std::size_t i) { return *nodes_.at(i); }
  [[nodiscard]] std::vector<std::size_t> primaries();

  // Where the keys are whose braces hold `tag`, as the cluster says.
  [[nodiscard]] Slot slot_of(std::string_view tag);
  [[nodiscard]] std::size_t owner_of(Slot slot);

  // A tag `start` + a number whose keys are at this node. Each call has another one.
  [[nodiscard]] std::string tag_at(std::size_t node, const std::string& start = "gate");

  // With the keys that are in it, a few at a time, while others use them.
  void move_slot(Slot slot, std::size_t to);

  // Returns when another node than `lost` has the slot, and which.
  std::size_t wait_for_failover(Slot slot, std::size_t lost);

  // Nodes that are dead or stopped come back, as replicas of whoever took over. Returns when
  // everything is ready.
  void bring_back();

 private:
  // How a node sees one node: a line of CLUSTER NODES.
  struct View {
    std::string id;
    std::string flags;
    std::string primary;  // Of a replica.
    std::uint64_t epoch = 0;
    std::string link;
    std::string slots;
    [[nodiscard]] bool is(std::string_view flag) const;
    [[nodiscard]] bool has(Slot slot) const;
  };

  void start_node(std::size_t i);
  void introduce_nodes();
  [[nodiscard]] std::vector<View> views_of(std::size_t i) const;
  [[nodiscard]] View own_view(std::size_t i) const;
  [[nodiscard]] bool knows_all(std::size_t i) const;
  [[nodiscard]] bool is_content(std::size_t i) const;
  [[nodiscard]] std::string map_of(std::size_t i) const;
  void expect_ok(std::size_t i, const std::vector<std::string>& words) const;
  [[nodiscard]] int find_owner(Slot slot) const;
  [[nodiscard]] bool is_known(Slot slot, std::size_t owner) const;

  const std::vector<std::string> options_;
  const TempDir dir_;
  const std::array<FreePort, 2 * kNodes> ports_;  // Of clients, then those of the cluster's bus.
  std::vector<std::unique_ptr<RedisProcess>> nodes_;
  std::array<std::string, kNodes> ids_;
  int last_tag_ = 0;
};

}  // namespace airlock::testing
