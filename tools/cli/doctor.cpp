#include <chrono>
#include <iostream>

#include "airlock/error.hpp"
#include "command.hpp"
#include "output.hpp"
#include "screen.hpp"

namespace airlock::cli {
namespace {

struct Doctor {
  bool json = false;
};

struct Finding {
  enum class Kind { good, advice, bad };
  Kind kind;
  std::string text;
};

using Findings = std::vector<Finding>;

const char* text_of(Finding::Kind kind) {
  return kind == Finding::Kind::good ? "good" : kind == Finding::Kind::advice ? "advice" : "bad";
}

// In and out again, at a gate of its own.
void check_step(Store& store, Findings& findings) {
  const Request request{.gate = "airlock-doctor",
                        .visitor = VisitorId::random(),
                        .permits = Permits{.limit = 1'000'000, .ttl = std::chrono::seconds(5)}};
  const auto began = std::chrono::steady_clock::now();
  const Answer answer = store.admit(request);
  if (const auto* const granted = std::get_if<Granted>(&answer)) store.release(granted->token);
  const auto took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
  const bool slow = took > std::chrono::milliseconds(100);
  findings.push_back({slow ? Finding::Kind::advice : Finding::Kind::good,
                      "in and out took " + brief(took) +
                          (slow ? "; every admission takes as long: look for a busy host or a slow "
                                  "network"
                                : "")});
}

void check_gate(const GateView& gate, Findings& findings) {
  const auto advise = [&](const std::string& text) {
    findings.push_back({Finding::Kind::advice, "gate " + gate.name + ": " + text});
  };
  if (gate.limits_disagree) {
    advise("its users ask with different limits; give all of them the same configuration");
  }
  if (gate.override_limit) {
    advise("an operator set its limit to " + std::to_string(*gate.override_limit) +
           "; `airlock limit " + gate.name + " clear` ends that");
  }
  for (const PauseView& pause : gate.pauses) {
    advise("paused for another " + brief(pause.remaining) + " by " +
           (pause.reporter.empty() ? "an operator; `airlock resume " + gate.name + "` ends that"
                                   : pause.reporter));
  }
  if (gate.counters.expired != 0) {
    advise(std::to_string(gate.counters.expired) +
           " leases ran out: holders hung, were stopped, or could not reach the store in time");
  }
}

Findings examine(const Command& command) try {
  Findings findings;
  const std::shared_ptr<Store> store = command.open();
  check_step(*store, findings);
  for (const std::string& name : store->list()) {
    if (const std::optional<GateView> gate = store->look(name)) check_gate(*gate, findings);
  }
  return findings;
} catch (const StoreError& error) {
  return {{Finding::Kind::bad, error.what()}};
}

int doctor(const Command& command, Doctor& options) {
  const Findings findings = examine(command);
  bool bad = false;
  Json json = Json::array();
  for (const Finding& finding : findings) {
    bad = bad || finding.kind == Finding::Kind::bad;
    json.push_back({{"kind", text_of(finding.kind)}, {"text", finding.text}});
    if (!options.json) std::cout << text_of(finding.kind) << ": " << finding.text << "\n";
  }
  if (options.json) std::cout << json.dump(2) << "\n";
  return bad ? kUnavailable : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Doctor>();
  add_subcommand(app, command, "doctor", "Checks the store and says what to mend", options, &doctor)
      .add_flag("--json", options->json, "For programs");
}

}  // namespace airlock::cli
