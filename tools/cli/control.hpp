#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "airlock/store.hpp"
#include "findings.hpp"
#include "gate_json.hpp"

namespace airlock::cli {

// What operators read and set: of a store, or of the store behind a server. Nothing is reached before
// the first call, and none makes a segment. Calls throw StoreError, or InvalidArgument.
class Control {
 public:
  Control() = default;
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  virtual ~Control() = default;

  // Which store or server it is, without passwords.
  [[nodiscard]] virtual std::string name() const = 0;

  // The gates whose names are like the glob `match`, sorted by name.
  [[nodiscard]] virtual std::vector<GateSummary> survey(const std::string& match) = 0;
  [[nodiscard]] virtual std::optional<GateReport> look(const GateName& gate) = 0;
  [[nodiscard]] virtual std::vector<std::string> list() = 0;
  virtual void write_metrics(std::ostream& out, const std::string& match) = 0;
  [[nodiscard]] virtual Examination examine() = 0;

  virtual void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) = 0;
  virtual void pause(const GateName& gate, Duration duration) = 0;
  [[nodiscard]] virtual bool resume(const GateName& gate) = 0;  // False: no operator had paused it.
  // Of the holder with this digest, or of all. Nothing: there is none.
  [[nodiscard]] virtual std::optional<std::size_t> revoke(const GateName& gate,
                                                          const std::optional<std::string>& visitor,
                                                          Revoke how) = 0;
  [[nodiscard]] virtual bool purge(const GateName& gate) = 0;  // False: not known.
};

}  // namespace airlock::cli
