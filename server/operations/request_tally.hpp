#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "operations/request_trace.hpp"

namespace airlock::server {

// Upper bounds of the latency histogram, in seconds.
inline constexpr std::array kLatencyBounds = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05,
                                              0.1,    0.5,    1.0,   5.0,   10.0, 60.0};

// The requests of one route.
struct RouteTally {
  std::array<std::uint64_t, 6> by_class =
      {};  // By the first digit of the status; 0: the client was gone.
  std::array<std::uint64_t, kLatencyBounds.size() + 1> by_latency = {};  // Streams are not in it.
  double seconds = 0;

  RouteTally& operator+=(const RouteTally& other);
};

using RouteTallies = std::map<RouteName, RouteTally>;

// The requests that one loop has answered.
class RequestTally {
 public:
  void count(const RouteName& route, int status, bool is_stream, std::chrono::nanoseconds duration);
  void add_to(RouteTallies& sum) const;

 private:
  mutable std::mutex
      mutex_;  // The loop has it to itself, but for the moments when somebody reads the metrics.
  RouteTallies routes_;
};

// Those of all loops.
class RequestTallyList {
 public:
  void add(const RequestTally& tally);
  void remove(const RequestTally& tally);
  [[nodiscard]] RouteTallies sum() const;

 private:
  mutable std::mutex mutex_;
  std::set<const RequestTally*> tallies_;
};

}  // namespace airlock::server
