#pragma once

#include <functional>
#include <iosfwd>
#include <string_view>

#include "airlock/store.hpp"
#include "airlock/version.hpp"

namespace airlock {

// Writes what the store counts, in the text format of Prometheus:
//
//   airlock_granted_total{gate}               airlock_in_use{gate}
//   airlock_refused_total{gate,reason}        airlock_limit{gate}
//   airlock_leases_lost_total{gate,reason}    airlock_holders{gate}
//   airlock_handovers_missed_total{gate}      airlock_waiting{gate}
//   airlock_abandoned_total{gate}             airlock_wait_seconds{gate}, a histogram
//   airlock_unreadable_gates
//
// The counters are the store's, so every process that shares it writes the same numbers: let one of
// them do it. They begin anew when an idle gate is forgotten. Gates come in the order of their
// names, and have no airlock_limit where nobody asked for permits. A lock has a limit of 1, and is in
// use by its writer or by all of its readers, which airlock_holders counts.
//
// Each gate is read in a step of its own, however full it is. One that cannot be read (of another
// version of airlock, or somebody else's key) is left out and counted in airlock_unreadable_gates.
// StoreError before anything is written.
AIRLOCK_EXPORT void write_metrics(const Store& store, std::ostream& out);

// Only gates that `include` says yes to: one series per user is too many for Prometheus.
AIRLOCK_EXPORT void write_metrics(const Store& store, std::ostream& out,
                                  const std::function<bool(std::string_view gate)>& include);

}  // namespace airlock
