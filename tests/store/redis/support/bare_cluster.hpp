#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "store/redis/support/redis_process.hpp"
#include "store/redis/support/slow_link.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock::testing {

// A cluster of primaries without replicas: what is lost stays lost, and the others serve on. Quicker to
// start than RedisCluster. With a round trip time every server is behind a SlowLink.
class BareCluster {
 public:
  explicit BareCluster(std::size_t nodes, std::chrono::milliseconds round_trip = {});

  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] RedisProcess& node(std::size_t i) { return *nodes_.at(i); }
  // Nodes that are dead or stopped come back. Returns when everything is ready.
  void bring_back();

  // Where clients find it, and the URI of the first.
  [[nodiscard]] redis::Address address(std::size_t i) const;
  [[nodiscard]] std::string uri(const std::string& options = "") const;

  // A tag whose keys are at this node. Each call has another one.
  [[nodiscard]] std::string tag_at(std::size_t node);
  [[nodiscard]] std::size_t owner_of(std::string_view tag) const;

 private:
  void start(std::size_t i);
  void wait_until_ready();

  const TempDir dir_;
  std::vector<FreePort> ports_;  // Of clients, then of the cluster's bus.
  std::vector<std::unique_ptr<SlowLink>> links_;
  std::vector<std::unique_ptr<RedisProcess>> nodes_;
  int last_tag_ = 0;
};

}  // namespace airlock::testing
