#include "store/redis/cluster.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/query_servers.hpp"

namespace airlock::redis {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals

constexpr auto kBetweenRefreshes = 100ms;
constexpr std::size_t kMostAsked = 5;  // Beside those of the URI.

void check_map(const std::vector<Reply>& replies) {
  if (replies.front().size() != 0) return;
  throw unavailable("knows no server of the cluster; it was removed from it or not yet added");
}

}  // namespace

NodePtr Cluster::find_or_add(const Address& address) {
  const std::string text = address.text();
  NodePtr& node = nodes_[text];
  if (!node) {
    node = Node::make([address](const Deadline& /*deadline*/) { return address; }, options_);
    addresses_[text] = address;
  }
  return node;
}

NodePtr Cluster::node_at(const Address& address) {
  const base::LockGuard lock(mutex_);
  return find_or_add(address);
}

std::uint64_t Cluster::server_of(HashSlot slot) {
  const base::LockGuard lock(mutex_);
  return reinterpret_cast<std::uintptr_t>(owners_[slot].get());  // NOLINT: as good as any number
}

NodePtr Cluster::node_of(HashSlot slot, const Deadline& deadline) {
  {
    const base::LockGuard lock(mutex_);
    if (owners_[slot]) return owners_[slot];
  }
  invalidate(deadline);
  const base::LockGuard lock(mutex_);
  if (owners_[slot]) return owners_[slot];
  if (nodes_.empty()) throw StoreError(last_failure_.error());
  throw unavailable("no server of the cluster has slot " + std::to_string(slot));
}

std::vector<NodePtr> Cluster::all(const Deadline& deadline) {
  invalidate(deadline);
  const base::LockGuard lock(mutex_);
  if (nodes_.empty()) throw StoreError(last_failure_.error());
  const std::set<NodePtr> owners(owners_.begin(), owners_.end());
  std::vector<NodePtr> nodes;
  for (const NodePtr& node : owners) {
    if (node) nodes.push_back(node);
  }
  return nodes;
}

void Cluster::move(HashSlot slot, const Address& to) {
  const base::LockGuard lock(mutex_);
  owners_[slot] = find_or_add(to);
}

// Some of those known, and always those of the URI: all others may have been replaced.
std::vector<Address> Cluster::who_to_ask() {
  std::vector<Address> servers = options_.seeds;
  std::vector<Address> known;
  {
    const base::LockGuard lock(mutex_);
    for (const auto& [text, address] : addresses_) known.push_back(address);
  }
  for (std::size_t asked = 0; asked < kMostAsked && !known.empty(); ++asked) {
    std::swap(known[base::random64() % known.size()], known.back());
    const bool named = std::ranges::any_of(
        options_.seeds, [&](const Address& seed) { return seed.text() == known.back().text(); });
    if (!named) servers.push_back(std::move(known.back()));
    known.pop_back();
  }
  return servers;
}

// Waits while somebody else refreshes. False: there is nothing to do, or no time.
bool Cluster::begins_refresh(const Deadline& deadline) {
  base::UniqueLock lock(mutex_);
  refreshed_.wait_until(lock, deadline.at(),
                        [this]() AIRLOCK_REQUIRES(mutex_) { return !is_refreshing_; });
  if (is_refreshing_ || Deadline::Clock::now() - last_refresh_ < kBetweenRefreshes) return false;
  is_refreshing_ = true;
  return true;
}

// Where nobody answers there is time for another attempt.
void Cluster::invalidate(const Deadline& deadline) noexcept {
  if (!begins_refresh(deadline)) return;
  std::optional<Failure> failure;
  std::vector<Commands> commands(1);
  commands[0].add_all({"CLUSTER", "SLOTS"});
  try {
    const auto half = std::chrono::duration_cast<Duration>(deadline.left() / 2);
    const std::vector<Answered> answers =
        query_servers(who_to_ask(), commands, {.check = check_map}, deadline.sooner(half));
    take_in(answers.front().replies[0], answers.front().by.host);
  } catch (const StoreError& error) {
    failure = Failure::of(error);
  }
  {
    const base::LockGuard lock(mutex_);
    if (failure) last_failure_ = *failure;
    last_refresh_ = Deadline::Clock::now();
    is_refreshing_ = false;
  }
  refreshed_.notify_all();
}

// Each entry: first slot, last slot, primary (host, port, ...), replicas.
void Cluster::take_in(const Reply& slots, const std::string& host_asked) {
  Nodes left;
  {
    const base::LockGuard lock(mutex_);
    if (stopped_) return;
    std::array<NodePtr, kHashSlots> owners;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Reply range = slots.at(i);
      const Reply primary = range.at(2);
      Address address = options_.address;
      address.host = primary.at(0).text();
      if (address.host.empty() || address.host == "?") address.host = host_asked;
      address.port = static_cast<std::uint16_t>(primary.at(1).integer());
      const auto first = static_cast<std::size_t>(std::max<std::int64_t>(range.at(0).integer(), 0));
      const auto last = static_cast<std::size_t>(range.at(1).integer());
      if (address.port == 0) continue;
      const NodePtr node = find_or_add(address);
      for (std::size_t slot = first; slot <= last && slot < kHashSlots; ++slot) owners[slot] = node;
    }
    owners_ = owners;
    const std::set<NodePtr> owning(owners.begin(), owners.end());
    std::erase_if(nodes_, [&](const auto& entry) AIRLOCK_REQUIRES(mutex_) {
      if (owning.contains(entry.second)) return false;
      left.insert(entry);
      addresses_.erase(entry.first);
      return true;
    });
  }
  for (const auto& [text, node] : left) node->subscription.retire();
}

void Cluster::stop() noexcept {
  Nodes nodes;
  {
    const base::LockGuard lock(mutex_);
    stopped_ = true;
    nodes = nodes_;
  }
  for (const auto& [text, node] : nodes) node->subscription.stop();
}

}  // namespace airlock::redis
