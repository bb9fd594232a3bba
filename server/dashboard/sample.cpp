#include "dashboard/sample.hpp"

#include <algorithm>

namespace airlock::server {

Sample Sample::of(const GateView& gate) {
  const GateCounts counts = displayed(gate.counts);
  Sample sample;
  auto& values = sample.values;
  values[kInUse] = counts.in_use;
  values[kLimit] = counts.limit != 0 || counts.overridden ? counts.limit + 1ULL : 0;
  values[kWaiting] = counts.waiting;
  values[kGranted] = gate.counters.granted;
  std::copy(gate.counters.refused.begin(), gate.counters.refused.end(), &values[kRefused]);
  std::copy(gate.counters.waits.begin(), gate.counters.waits.end(), &values[kWaits]);
  return sample;
}

}  // namespace airlock::server
