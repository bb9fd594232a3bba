#include "store/redis/support/bare_cluster.hpp"

#include "store/redis/slot.hpp"

namespace airlock::testing {
namespace {

constexpr const char* kHost = "127.0.0.1";

}  // namespace

BareCluster::BareCluster(std::size_t nodes, std::chrono::milliseconds round_trip)
    : ports_(2 * nodes) {
  const auto first_slot = [&](std::size_t i) {
    return std::to_string((i * redis::kHashSlots + nodes - 1) / nodes);
  };
  for (std::size_t i = 0; i < nodes; ++i) {
    const redis::Address address{.host = kHost, .port = ports_[i].number()};
    if (round_trip.count() != 0) links_.push_back(std::make_unique<SlowLink>(address, round_trip));
    nodes_.push_back(std::make_unique<RedisProcess>(address));
    start(i);
    const std::string last = std::to_string(std::stoi(first_slot(i + 1)) - 1);
    (void)nodes_[i]->command({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    (void)nodes_[i]->command({"CLUSTER", "ADDSLOTSRANGE", first_slot(i), last});
    for (std::size_t j = 0; j < i; ++j) {
      (void)nodes_[i]->command(
          {"CLUSTER", "MEET", kHost, ports_[j].text(), ports_[nodes + j].text()});
    }
  }
  wait_until_ready();
}

void BareCluster::start(std::size_t i) {
  std::vector<std::string> words = forgetful_in(dir_.path() + "/node" + std::to_string(i));
  const std::string port = std::to_string(address(i).port);
  words.insert(words.end(), {"--port", ports_[i].text(), "--bind", kHost,             //
                             "--cluster-enabled", "yes",                              //
                             "--cluster-port", ports_[ports_.size() / 2 + i].text(),  //
                             "--cluster-announce-ip", kHost,                          //
                             "--cluster-announce-port", port,                         //
                             "--cluster-announce-bus-port", ports_[ports_.size() / 2 + i].text(),
                             "--cluster-node-timeout", "1000",  //
                             "--cluster-require-full-coverage", "no"});
  nodes_[i]->start(words);
}

void BareCluster::bring_back() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i]->state() == RedisProcess::State::dead) start(i);
    nodes_[i]->go_on();
  }
  wait_until_ready();
}

void BareCluster::wait_until_ready() {
  for (const auto& node : nodes_) {
    wait_until("every node knows all slots", [&] {
      const std::string info = node->try_command({"CLUSTER", "INFO"});
      return value_of("cluster_state", info) == "ok" &&
             value_of("cluster_slots_ok", info) == std::to_string(redis::kHashSlots) &&
             value_of("cluster_known_nodes", info) == std::to_string(nodes_.size());
    });
  }
}

redis::Address BareCluster::address(std::size_t i) const {
  if (i < links_.size()) return links_[i]->address();
  return {.host = kHost, .port = ports_[i].number()};
}

std::string BareCluster::uri(const std::string& options) const {
  return "redis+cluster://" + address(0).text() + (options.empty() ? "" : "?" + options);
}

std::size_t BareCluster::owner_of(std::string_view tag) const {
  return redis::slot_of(tag) * nodes_.size() / redis::kHashSlots;
}

std::string BareCluster::tag_at(std::size_t node) {
  for (;;) {
    std::string tag = "gate" + std::to_string(++last_tag_);
    if (owner_of(tag) == node) return tag;
  }
}

}  // namespace airlock::testing
