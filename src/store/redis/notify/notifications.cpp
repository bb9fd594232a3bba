#include "store/redis/notify/notifications.hpp"

#include <vector>

#include "base/random.hpp"
#include "store/redis/store_time.hpp"
#include "store/redis/wire.hpp"

namespace airlock::redis {
namespace {

constexpr std::size_t kMostChannels = 1000;  // Beyond them those that nobody uses are forgotten.

}  // namespace

std::string Notifications::random_name() { return std::to_string(base::random64()); }

// Before Redis 7 a cluster knows no channels of slots: every server passes on what any one says.
Notifications::ChannelPtr Notifications::channel(const GateName& gate, bool make) {
  const bool sharded = topology_.has_slots() && can_shard_;
  const std::string_view tag = sharded ? gate.group() : "";
  const base::LockGuard lock(mutex_);
  if (const auto found = channels_.find(tag); found != channels_.end()) return found->second;
  if (!make) return nullptr;
  if (channels_.size() >= kMostChannels) {
    std::erase_if(channels_, [](const auto& entry) {
      return entry.second.use_count() == 1 && entry.second->watchers.is_empty();
    });
  }
  std::string name = options_.prefix + ":wake:" + process_;
  if (sharded) name.append(":{").append(tag).append("}");
  return channels_[std::string(tag)] = std::make_shared<WakeChannel>(
             std::move(name), sharded ? slot_of(tag) : HashSlot{0}, sharded);
}

// As messages carry it.
std::string Notifications::key_of(const GateName& gate, const VisitorId& visitor) const {
  return pack_visitor(visitor) + naming_.key(gate, Naming::kParts[0]);
}

Notifications::Expectation Notifications::expect(const Request& request) {
  const bool may_wait = request.line.join || request.line.returning;
  Expectation expected;
  expected.channel_ = channel(request.gate, may_wait);
  if (may_wait || (expected.channel_ && !expected.channel_->watchers.is_empty()))
    expected.key_ = key_of(request.gate, request.visitor);
  expected.is_heard_ =
      may_wait && expected.channel_->watchers.expect(expected.key_, request.line.patience);
  return expected;
}

// They are of one slot.
Notifications::Expectation Notifications::expect_all(std::span<const Request> requests) {
  Expectation expected;
  expected.channel_ = channel(requests.front().gate);
  for (const Request& request : requests) {
    if (!request.line.join) continue;
    const std::string key = key_of(request.gate, request.visitor);
    if (expected.channel_->watchers.expect(key, request.line.patience)) expected.is_heard_ = true;
  }
  return expected;
}

bool Notifications::confirm(const ChannelPtr& channel, const Deadline& deadline) {
  const NodePtr node =
      topology_.node_of(channel->slot, deadline);  // It may leave the cluster meanwhile.
  channel->set_node(node);
  const bool hears = node->subscription.confirm(channel, deadline);
  if (!node->subscription.can_shard()) can_shard_ = false;
  return hears;
}

void Notifications::listen(std::span<const GateName> gates, const Deadline& deadline) noexcept try {
  std::map<ChannelPtr, std::size_t> askers;
  for (const GateName& gate : gates) ++askers[channel(gate)];
  for (const auto& [channel, count] : askers) {
    if (count > 1 && !channel->watchers.is_listening()) (void)confirm(channel, deadline);
  }
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): whoever watches tries again
}

bool Notifications::watch_at(const ChannelPtr& channel, const std::string& key,
                             std::function<void()> changed, const Ask& ask) {
  Watchers& watchers = channel->watchers;
  const Watchers::Known known = watchers.watch_expected(key, changed);
  if (known != Watchers::Known::unknown) return known == Watchers::Known::watching;

  // Subscribed, confirmed, and only then asked: nothing can be missed in between.
  watchers.add(key, std::move(changed));
  bool watches = false;
  try {
    const bool hears = confirm(channel, step_deadline(options_));
    watches = ask(hears ? std::string_view(channel->name) : std::string_view());
  } catch (...) {
    watchers.remove(key);
    throw;
  }
  if (!watches) watchers.remove(key);
  return watches;
}

bool Notifications::watch(const GateName& gate, const VisitorId& visitor,
                          std::function<void()> changed, const Ask& ask) {
  const ChannelPtr channel = this->channel(gate);
  if (!watch_at(channel, key_of(gate, visitor), std::move(changed), ask)) return false;
  if (const NodePtr node = channel->node()) node->subscription.attend();
  return true;
}

bool Notifications::await(const GateName& gate, const VisitorId& visitor,
                          const std::shared_ptr<Sleeper>& sleeper, Instant deadline,
                          const Ask& ask) {
  const ChannelPtr channel = this->channel(gate);
  const auto wake = [sleeper] { sleeper->wake(true); };
  if (!watch_at(channel, key_of(gate, visitor), wake, ask)) return true;
  Clock& clock = clock_of(options_);
  const NodePtr node = channel->node();
  return node ? node->subscription.sleep(*channel, *sleeper, clock, deadline)
              : sleeper->sleep(clock, deadline);
}

// Wherever the gate's waiters have been heard.
void Notifications::unwatch(const GateName& gate, const VisitorId& visitor) {
  const std::string key = key_of(gate, visitor);
  for (const std::string_view tag : {gate.group(), std::string_view()}) {
    base::UniqueLock lock(mutex_);
    const auto found = channels_.find(tag);
    if (found == channels_.end()) continue;
    const ChannelPtr channel = found->second;
    lock.unlock();
    channel->watchers.remove(key);
  }
}

void Notifications::tell_own(const GateName& gate, const VisitorId& visitor) {
  const ChannelPtr channel = this->channel(gate, false);
  if (channel && !channel->watchers.is_empty()) channel->watchers.tell_own(key_of(gate, visitor));
}

void Notifications::flush() {
  std::vector<ChannelPtr> all;
  {
    const base::LockGuard lock(mutex_);
    for (const auto& [tag, channel] : channels_) all.push_back(channel);
  }
  for (const ChannelPtr& channel : all) {
    const Deadline deadline(options_.timeout);
    topology_.node_of(channel->slot, deadline)->subscription.flush(*channel, deadline);
  }
}

}  // namespace airlock::redis
