#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "airlock/look.hpp"
#include "dashboard/sample.hpp"

namespace airlock::server {

// One gate as /v1/events shows it. A row never changes: a gate that is as it was a second before keeps its row.
struct GateRow {
  std::string name;
  const char* kind = "";
  std::string lock_state = {};  // Of a lock.
  GateCounts counts = {};
  std::optional<std::uint32_t> override_limit = {};
  bool limits_disagree = false;
  // Of the rate that has the least left. 0: the gate has none.
  std::uint32_t rate_limit = 0;
  std::uint32_t rate_remaining = 0;
  std::vector<std::pair<std::string, std::int64_t>> pauses = {};  // Reporter, and until when.
  double granted_per_second = 0;
  double refused_per_second = 0;
  std::string unreadable = {};
  std::string json = {};  // All of it as an object; docs/server.md has its fields.
};

using GateRowPtr = std::shared_ptr<const GateRow>;

// When a gate was looked at.
struct Moment {
  std::int64_t epoch_seconds = 0;
  double since_last = 0;  // Seconds. 0: it was not looked at before.
};

// `before` if nothing of it has changed; it may be null. `last` is the gate's sample of the moment before, or null.
[[nodiscard]] GateRowPtr make_row(const GateSummary& summary, const Sample& sample,
                                  const Moment& moment, const GateRowPtr& before,
                                  const Sample* last);

}  // namespace airlock::server
