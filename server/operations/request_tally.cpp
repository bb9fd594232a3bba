#include "operations/request_tally.hpp"

#include <algorithm>

namespace airlock::server {

RouteTally& RouteTally::operator+=(const RouteTally& other) {
  for (std::size_t i = 0; i < by_class.size(); ++i) by_class.at(i) += other.by_class.at(i);
  for (std::size_t i = 0; i < by_latency.size(); ++i) by_latency.at(i) += other.by_latency.at(i);
  seconds += other.seconds;
  return *this;
}

void RequestTally::count(const RouteName& route, int status, bool is_stream,
                         std::chrono::nanoseconds duration) {
  constexpr int kClass = 100;
  const double seconds = std::chrono::duration<double>(duration).count();
  const auto* const bound = std::lower_bound(kLatencyBounds.begin(), kLatencyBounds.end(), seconds);
  const std::lock_guard lock(mutex_);
  RouteTally& tally = routes_[route];
  ++tally.by_class.at(status == kClientGone ? 0 : static_cast<std::size_t>(status / kClass));
  if (is_stream || status == kClientGone) return;
  ++tally.by_latency.at(static_cast<std::size_t>(bound - kLatencyBounds.begin()));
  tally.seconds += seconds;
}

void RequestTally::add_to(RouteTallies& sum) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [route, tally] : routes_) sum[route] += tally;
}

void RequestTallyList::add(const RequestTally& tally) {
  const std::lock_guard lock(mutex_);
  tallies_.insert(&tally);
}

void RequestTallyList::remove(const RequestTally& tally) {
  const std::lock_guard lock(mutex_);
  tallies_.erase(&tally);
}

RouteTallies RequestTallyList::sum() const {
  RouteTallies sum;
  const std::lock_guard lock(mutex_);
  for (const RequestTally* const tally : tallies_) tally->add_to(sum);
  return sum;
}

}  // namespace airlock::server
