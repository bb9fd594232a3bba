#include "store/redis/topology.hpp"

#include <cstdlib>
#include <utility>

#include "base/label.hpp"
#include "store/redis/cluster.hpp"

namespace airlock::redis {
namespace {

// CLIENT SETNAME takes no spaces.
std::string connection_name() {
  std::string name = "airlock:";
  for (const char c : base::default_label()) name += c > ' ' && c <= '~' ? c : '_';
  return name;
}

// Between attempts to connect. Where another server may take over, soon again.
Duration longest_rest(const Options& options) {
  return options.seeds.empty() ? Duration(std::chrono::seconds(1))
                               : Duration(std::chrono::milliseconds(250));
}

// One server, or the one that sentinels name.
class OneServer final : public Topology {
 public:
  explicit OneServer(const Options& options) : has_sentinels_(!options.seeds.empty()) {
    if (has_sentinels_) {
      auto sentinels =
          std::make_shared<const Sentinels>(options.seeds, options.master, options.address);
      node_ =
          Node::make([sentinels](const Deadline& deadline) { return sentinels->locate(deadline); },
                     options, sentinels);
    } else {
      node_ = Node::make([address = options.address](const Deadline&) { return address; }, options);
    }
  }

  bool may_change() const noexcept override { return has_sentinels_; }
  NodePtr node_of(HashSlot /*slot*/, const Deadline& /*deadline*/) override { return node_; }
  std::vector<NodePtr> all(const Deadline& /*deadline*/) override { return {node_}; }
  void move(HashSlot /*slot*/, const Address& /*to*/) override { std::abort(); }
  NodePtr node_at(const Address& /*address*/) override { return node_; }
  void invalidate(const Deadline& /*deadline*/) noexcept override {}
  void stop() noexcept override { node_->subscription.stop(); }

 private:
  const bool has_sentinels_;
  NodePtr node_;
};

}  // namespace

Node::Node(Pool::Locate locate, const Options& options, std::shared_ptr<const Sentinels> sentinels)
    : pool(std::move(locate), {.most = options.pool,
                               .name = connection_name(),
                               .timeout = options.timeout,
                               .longest_rest = longest_rest(options),
                               .replicas_ack = options.replicas_ack}),
      subscription(
          pool,
          {.timeout = options.timeout, .hears = options.hears, .sentinels = std::move(sentinels)}) {
}

NodePtr Node::make(Pool::Locate locate, const Options& options,
                   std::shared_ptr<const Sentinels> sentinels) {
  auto node = std::make_shared<Node>(std::move(locate), options, std::move(sentinels));
  node->subscription.set_owner(node);
  return node;
}

std::unique_ptr<Topology> Topology::make(const Options& options) {
  const bool is_cluster = !options.seeds.empty() && options.master.empty();
  if (is_cluster) return std::make_unique<Cluster>(options);
  return std::make_unique<OneServer>(options);
}

}  // namespace airlock::redis
