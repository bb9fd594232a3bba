#include "store/redis/notify/channel_table.hpp"

#include <algorithm>

namespace airlock::redis {

ChannelTable::Ptr ChannelTable::find(std::string_view name) const {
  const auto found = channels_.find(name);
  return found == channels_.end() ? nullptr : found->second;
}

ChannelTable::Ptr ChannelTable::find_or_add(const std::shared_ptr<WakeChannel>& target) {
  Ptr& known = channels_[target->name];
  if (!known) known = std::make_shared<SubscribedChannel>(SubscribedChannel{.target = target});
  return known;
}

void ChannelTable::end(const Ptr& channel) {
  channel->state = State::over;
  const auto found = channels_.find(channel->target->name);
  if (found != channels_.end() && found->second == channel) channels_.erase(found);
}

bool ChannelTable::is_listening(std::string_view name) const {
  const auto found = channels_.find(name);
  return found != channels_.end() && found->second->state == State::listening;
}

std::vector<ChannelTable::Ptr> ChannelTable::all() const {
  std::vector<Ptr> all;
  for (const auto& [name, channel] : channels_) all.push_back(channel);
  return all;
}

std::vector<ChannelTable::Ptr> ChannelTable::wanted() const {
  std::vector<Ptr> wanted;
  for (const auto& [name, channel] : channels_) {
    if (channel->state == State::wanted) wanted.push_back(channel);
  }
  return wanted;
}

std::vector<ChannelTable::Ptr> ChannelTable::unneeded(Deadline::Clock::time_point now,
                                                      Duration linger) {
  std::vector<Ptr> unneeded;
  for (const auto& [name, channel] : channels_) {
    if (channel->target->watchers.has_any()) channel->last_needed = now;
    const bool listens = channel->state == State::listening;
    if (listens && now - channel->last_needed > linger) unneeded.push_back(channel);
  }
  return unneeded;
}

bool ChannelTable::has_nobody_to_tell() const noexcept {
  return std::ranges::all_of(channels_, [](const auto& entry) {
    const SubscribedChannel& channel = *entry.second;
    return channel.state == State::listening && channel.target->watchers.is_empty();
  });
}

bool ChannelTable::has_one_to_tell(std::string_view name) const noexcept {
  if (!is_listening(name)) return false;
  std::size_t to_tell = 0;
  for (auto at = channels_.begin(); at != channels_.end() && to_tell <= 1; ++at) {
    to_tell += at->second->target->watchers.size();
  }
  return to_tell == 1;
}

}  // namespace airlock::redis
