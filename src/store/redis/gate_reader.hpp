#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "airlock/store.hpp"
#include "store/redis/leases.hpp"
#include "store/redis/step_runner.hpp"

namespace airlock::redis {

// Reads gates: one with everybody at it (look), or many without (counts, survey). Bounded on the
// server: each script reads a portion, and none of them writes. The steps are as Backend says.
class GateReader {
 public:
  GateReader(const Options& options, const StepCalls& calls, StepRunner& runner, Client& client,
             Leases& leases)
      : options_(options), calls_(calls), runner_(runner), client_(client), leases_(leases) {}

  [[nodiscard]] std::optional<GateView> look(const GateName& gate);
  [[nodiscard]] std::vector<GateCounts> counts(std::span<const GateName> gates);
  [[nodiscard]] std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include);
  [[nodiscard]] std::vector<std::string> list();

 private:
  using Gates = StepRunner::Gates;
  // Empty: the gate is not known. What a gate that cannot be read says goes to `failed`, or is
  // thrown where there is none.
  using Summarized = std::function<void(const GateName&, std::optional<Summary>)>;
  using Failed = std::function<void(const GateName&, const StoreError&)>;

  // What was found of a gate. `is_known` false: not yet, lua/survey.lua is to be asked.
  struct Reading {
    bool is_known = false;
    std::optional<Summary> summary = {};
    std::optional<Failure> failure = {};
  };

  static Reading reading_of(const GateName& gate, const Reply& reply, std::size_t at);
  void summarize(Gates gates, const Summarized& use, const Failed& failed = {});
  [[nodiscard]] std::vector<Reading> read_portion(Gates gates);
  void survey_rest(Gates gates, std::vector<Reading>& readings);
  [[nodiscard]] Reading survey_of(const GateName& gate, const Batch& batch, std::size_t call);
  // The visits from where a portion of HSCAN ended.
  void add_visits(const GateName& gate, std::string cursor, Visits& visits);
  [[nodiscard]] Call survey_call(const GateName& gate, std::size_t portion = 0) const;

  const Options& options_;
  const StepCalls& calls_;
  StepRunner& runner_;
  Client& client_;
  Leases& leases_;
};

}  // namespace airlock::redis
