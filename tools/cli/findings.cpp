#include "findings.hpp"

#include <chrono>

#include "airlock/error.hpp"
#include "words.hpp"

namespace airlock::cli {
namespace {

using Level = Finding::Level;

// A step that changes nothing and leaves no gate behind: leaving a line that nobody is in.
Finding check_step(const Store& store) {
  const auto began = std::chrono::steady_clock::now();
  (void)store.leave("airlock-doctor", VisitorId::random());
  const auto took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
  const std::string what = "a step took " + brief(took);
  if (took <= std::chrono::milliseconds(100)) return {Level::good, what};
  return {Level::warning, what, "look for a busy host or a slow network"};
}

void check_gate(const GateView& gate, std::vector<Finding>& findings) {
  const auto warn = [&](const std::string& what, const std::string& remedy) {
    findings.push_back({Level::warning, "gate " + gate.name + ": " + what, remedy});
  };
  if (gate.limits_disagree) {
    warn("its users ask with different limits", "give all of them the same configuration");
  }
  if (gate.override_limit) {
    warn("an operator set its limit to " + std::to_string(*gate.override_limit),
         "`airlock limit " + gate.name + " clear` ends that");
  }
  for (const PauseView& pause : gate.pauses) {
    const std::string what = "paused for another " + brief(pause.remaining) + " by ";
    if (pause.reporter.empty()) {
      warn(what + "an operator", "`airlock resume " + gate.name + "` ends that");
    } else {
      warn(what + pause.reporter, "look at what " + pause.reporter + " found unwell");
    }
  }
  if (gate.counters.expired != 0) {
    warn(counted(gate.counters.expired, "lease") + " ran out",
         "look for holders that hang, are stopped, or cannot reach the store in time");
  }
}

void check_gates(const Store& store, const std::function<bool(std::string_view gate)>& include,
                 std::vector<Finding>& findings) {
  for (const auto& [gate, unreadable] : store.survey(include)) {
    if (unreadable.empty()) {
      check_gate(gate, findings);
    } else {
      findings.push_back(
          {Level::problem, "gate " + gate.name + ": " + unreadable,
           "use one version of airlock in all programs, and the prefix for nothing else"});
    }
  }
}

const char* remedy_for(StoreError::Kind kind) {
  switch (kind) {
    case StoreError::Kind::unavailable:
      return "see that it is there and can be reached: address, folder, rights, network";
    case StoreError::Kind::busy:
      return "look for what keeps it busy: a stopped process, a slow command, a slow network";
    case StoreError::Kind::no_room:
      return "give it more memory, or release admissions";
    default:
      return "fix what is said above; docs/stores.md has the options and rights of every store";
  }
}

}  // namespace

Finding finding_of(const StoreError& error) {
  return {Level::problem, error.what(), remedy_for(error.kind())};
}

Examination examine(const std::function<Store()>& open,
                    const std::function<bool(std::string_view gate)>& include) {
  Examination made;
  try {
    const Store store = open();
    made.findings = store.examine();
    made.findings.push_back(check_step(store));
    check_gates(store, include, made.findings);
  } catch (const StoreError& error) {
    made.findings.push_back(finding_of(error));
    made.is_available = false;
  }
  return made;
}

Json findings_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) {
    json.push_back(
        {{"level", to_text(finding.level)}, {"what", finding.what}, {"remedy", finding.remedy}});
  }
  return json;
}

}  // namespace airlock::cli
