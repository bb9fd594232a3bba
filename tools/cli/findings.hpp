#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "airlock/store.hpp"
#include "gate_json.hpp"

// What `airlock doctor` finds, here and in the server. Needs nothing of the command.

namespace airlock::cli {

struct Examination {
  std::vector<Finding> findings = {};
  bool is_available = true;  // The store.
};

// The store that `open` gives, a step of it, and every gate that `include` says yes to. A store that fails is a finding.
[[nodiscard]] Examination examine(const std::function<Store()>& open,
                                  const std::function<bool(std::string_view gate)>& include);

// The finding for a store, or a server, that cannot be asked.
[[nodiscard]] Finding finding_of(const StoreError& error);

[[nodiscard]] Json findings_json(const std::vector<Finding>& findings);

}  // namespace airlock::cli
