#include <algorithm>

#include "checked_output.hpp"
#include "command.hpp"
#include "control.hpp"
#include "findings.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

// Besides 0 and kUnavailable: it works, but something is wrong.
constexpr int kProblem = 1;

using Level = Finding::Level;

struct Doctor {
  bool json = false;
};

std::string text_of(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    out += std::string(to_text(finding.level)) + ": " + finding.what + "\n";
    if (!finding.remedy.empty()) out += "    " + finding.remedy + "\n";
  }
  return out;
}

int doctor(const Command& command, Doctor& options) {
  const Examination made = command.control()->examine();
  options.json ? print_json(findings_json(made.findings)) : write_output(text_of(made.findings));
  if (!made.is_available) return kUnavailable;
  const auto is_problem = [](const Finding& finding) { return finding.level == Level::problem; };
  return std::any_of(made.findings.begin(), made.findings.end(), is_problem) ? kProblem : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Doctor>();
  CLI::App& added = add_operator_command(app, command, "doctor",
                                         "Checks the store and says what to fix", options, &doctor);
  added.add_flag("--json", options->json, "For programs");
}

}  // namespace airlock::cli
