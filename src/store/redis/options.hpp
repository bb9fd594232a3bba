#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "store/redis/address.hpp"
#include "store/redis/scripts.hpp"

namespace airlock::redis {

struct Options {
  Address address;                  // The server; with seeds: how any server is spoken to.
  std::vector<Address> seeds = {};  // Sentinels, or nodes of a cluster.
  std::string master = {};          // What the sentinels call it; empty: seeds are of a cluster.
  std::string prefix = "airlock";   // What every key and channel starts with.
  Duration timeout = std::chrono::seconds(1);
  std::uint32_t pool = 1;
  std::uint32_t replicas_ack = 0;
  Duration handover_delay{0};

  // How tests step the time: scripts that take it from their caller, and whose it is.
  const Scripts* scripts = &redis::scripts();
  Clock* stepped = nullptr;
  std::function<std::uint32_t()> seed = {};  // Of lotteries; empty: random.
  std::function<bool()> hears = {};          // Whether a message arrives; empty: all do.

  // InvalidArgument says what is wrong with it, never a password.
  [[nodiscard]] static Options from(const Uri& uri);
};

}  // namespace airlock::redis
