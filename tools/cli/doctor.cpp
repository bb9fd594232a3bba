#include <chrono>

#include "airlock/error.hpp"
#include "checked_output.hpp"
#include "command.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

// Besides 0 and kUnavailable: it works, but something is wrong.
constexpr int kProblem = 1;

using Level = Finding::Level;

struct Doctor {
  bool json = false;
};

struct Examination {
  std::vector<Finding> findings = {};
  bool is_available = true;
};

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

void check_gates(const Store& store, std::vector<Finding>& findings) {
  for (const auto& [gate, unreadable] : store.survey()) {
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

Examination examine(const Command& command) {
  Examination made;
  try {
    const Store store = command.open_existing();
    made.findings = store.examine();
    made.findings.push_back(check_step(store));
    check_gates(store, made.findings);
  } catch (const StoreError& error) {
    made.findings.push_back({Level::problem, error.what(), remedy_for(error.kind())});
    made.is_available = false;
  }
  return made;
}

std::string text_of(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    out += std::string(to_text(finding.level)) + ": " + finding.what + "\n";
    if (!finding.remedy.empty()) out += "    " + finding.remedy + "\n";
  }
  return out;
}

Json described(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) {
    json.push_back(
        {{"level", to_text(finding.level)}, {"what", finding.what}, {"remedy", finding.remedy}});
  }
  return json;
}

int doctor(const Command& command, Doctor& options) {
  const Examination made = examine(command);
  options.json ? print_json(described(made.findings)) : write_output(text_of(made.findings));
  if (!made.is_available) return kUnavailable;
  const auto is_problem = [](const Finding& finding) { return finding.level == Level::problem; };
  return std::any_of(made.findings.begin(), made.findings.end(), is_problem) ? kProblem : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Doctor>();
  CLI::App& added = add_subcommand(app, command, "doctor", "Checks the store and says what to fix",
                                   options, &doctor);
  added.add_flag("--json", options->json, "For programs");
}

}  // namespace airlock::cli
