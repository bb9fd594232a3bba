#pragma once

#include <string>
#include <vector>

#include "airlock/store.hpp"
#include "findings.hpp"
#include "gate_json.hpp"

// What a server says in JSON (gate_json.hpp, findings.hpp), read again. Control characters of its texts are replaced: a
// terminal would obey them.

namespace airlock::cli {

// StoreError (incompatible) for text that is not JSON.
[[nodiscard]] Json parse_json(const std::string& text);

// StoreError (incompatible) where a field is missing or of another kind.
[[nodiscard]] std::vector<GateSummary> read_summaries(const Json& json);
[[nodiscard]] GateReport read_report(const Json& json);
[[nodiscard]] Examination read_examination(const Json& json);
[[nodiscard]] std::size_t read_revoked(const Json& json);

// The text without control characters, and not longer than a message may be.
[[nodiscard]] std::string harmless(std::string text);

}  // namespace airlock::cli
