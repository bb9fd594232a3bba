#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "airlock/clock.hpp"
#include "airlock/store.hpp"
#include "store/redis/address.hpp"
#include "store/redis/scripts.hpp"

namespace airlock::redis {

struct Options {
  Address address;
  std::string prefix = "airlock";  // What every key and channel starts with.
  Duration timeout = std::chrono::seconds(1);
  std::uint32_t pool = 32;

  // How tests step the time: scripts that take it from their caller, and whose it is.
  const Scripts* scripts = &redis::scripts();
  Clock* stepped = nullptr;
  std::function<std::uint32_t()> seed = {};  // Of lotteries; empty: random.
  std::function<bool()> hears = {};          // Whether a message arrives; empty: all do.
};

[[nodiscard]] Options options_of(const Uri& uri);

// A store on a Redis server: the rules are the scripts in lua/, run where the state is. Connects on
// first use; the calling thread does its own I/O. In a forked child it has connections of its own.
[[nodiscard]] std::shared_ptr<Store> make_store(Options options);

// Returns when everything that the server has told this process was passed on. For tests.
void deliver_messages(Store& store);

}  // namespace airlock::redis
