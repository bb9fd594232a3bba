#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "airlock/testing.hpp"
#include "model/support/heap_memory.hpp"
#include "model/support/operation.hpp"
#include "model/support/perform.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/support/server.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock::trial {

// One step asked of a store that has these gates.
[[nodiscard]] Reply perform(const Store& store, const Operation& operation, const Token& token,
                            std::size_t gates);
// Whether a store takes it, whatever its state.
[[nodiscard]] bool is_valid(const Operation& operation);

// The rules and the scripts side by side: the same steps at the same moments with the same draws.
// Whatever can be seen of the two must be the same; fences need not be the same numbers, they must
// be good ones. The scripts a second time without their fast paths: the same keys, byte for byte.
class RedisTwins {
 public:
  // Looks at the gates of a step after every so many steps. Whoever looks settles them, so that with 1 no step finds
  // anything that has run out by itself.
  RedisTwins(std::uint64_t seed, const Profile& profile, std::size_t look_every = 1);

  // What is different afterwards; empty: nothing.
  [[nodiscard]] std::string apply(const Operation& operation);

 private:
  class Listener final : public model::Listener {
   public:
    void changed(model::Ref /*ref*/, model::Visit& /*visit*/) noexcept override {}
    bool reachable(const model::Visit& /*visit*/) noexcept override { return true; }
  };

  struct TokenPair {
    Token rules;
    Token redis;
  };

  void pass_time(const Operation& operation);
  void touch_all();
  void note_tokens(const Reply& rules, const Reply& redis);
  void note_token(const Granted& rules, const Granted& redis);
  void compare(const std::string& what, const std::string& rules, const std::string& redis);
  void look_at(const std::string& gate);
  [[nodiscard]] Reply perform_rules(const Operation& operation, const Token& token);
  [[nodiscard]] Reply perform_redis(const Operation& operation, Token token);
  [[nodiscard]] Store open(const std::string& prefix, const redis::Scripts& scripts);
  void compare_keys(const std::string& gate);

  Profile profile_;
  std::size_t look_every_;
  std::size_t steps_ = 0;
  std::mt19937 seeds_;
  std::uint32_t seed_ = 1;
  internal::SteppedClock clock_;
  Instant last_touch_{0};

  Listener listener_;
  HeapMemory memory_;
  model::ShardHead head_;
  model::Shard shard_;
  const std::string prefix_ = testing::unused_prefix();
  const std::string slow_prefix_ = testing::unused_prefix();
  Store store_;
  Store slow_store_;
  redis::Connection connection_;

  std::deque<TokenPair> tokens_;          // Newest first.
  std::map<std::string, Fence> highest_;  // Of the scripts, by gate.
  std::string difference_;
};

}  // namespace airlock::trial
