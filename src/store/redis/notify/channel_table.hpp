#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/deadline.hpp"
#include "store/redis/notify/wake_channel.hpp"

namespace airlock::redis {

// A channel of a subscription, from the first who wants it until nothing is heard there any more.
struct SubscribedChannel {
  enum class State { wanted, asked, listening, over };

  [[nodiscard]] bool is_settled() const noexcept {
    return state == State::listening || state == State::over;
  }

  std::shared_ptr<WakeChannel> target;
  State state = State::wanted;
  Deadline::Clock::time_point last_needed = Deadline::Clock::now();
};

// The channels of one subscription by their names, and who is to be told there. Not safe to use from
// several threads: Subscription has a lock for it.
class ChannelTable {
 public:
  using State = SubscribedChannel::State;
  using Ptr = std::shared_ptr<SubscribedChannel>;

  [[nodiscard]] bool is_empty() const noexcept { return channels_.empty(); }
  [[nodiscard]] Ptr find(std::string_view name) const;
  [[nodiscard]] Ptr find_or_add(const std::shared_ptr<WakeChannel>& target);
  // It is over, and out of the table.
  void end(const Ptr& channel);

  [[nodiscard]] bool is_listening(std::string_view name) const;
  [[nodiscard]] std::vector<Ptr> all() const;
  [[nodiscard]] std::vector<Ptr> wanted() const;
  // Where messages arrive and nobody has been to be told since `now` - `linger`.
  [[nodiscard]] std::vector<Ptr> unneeded(Deadline::Clock::time_point now, Duration linger);

  // Every channel listens, and there is nobody to be told.
  [[nodiscard]] bool has_nobody_to_tell() const noexcept;
  // In all channels there is one to be told, and `name` listens.
  [[nodiscard]] bool has_one_to_tell(std::string_view name) const noexcept;

 private:
  std::map<std::string, Ptr, std::less<>> channels_;
};

}  // namespace airlock::redis
