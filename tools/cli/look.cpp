#include <fnmatch.h>

#include <iostream>

#include "airlock/metrics.hpp"
#include "command.hpp"
#include "gate_text.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

struct Look {
  std::optional<GateName> gate = {};
  bool overrides = false;
  bool json = false;
  std::string match = "*";
};

bool is_overridden(const GateView& gate) { return gate.override_limit || !gate.pauses.empty(); }

int ls(const Command& command, Look& options) {
  const std::shared_ptr<Store> store = command.open();
  Json json = Json::array();
  Table table({"NAME", "IN USE", "LIMIT", "HOLDERS", "WAITING", "NOTES"});
  for (const std::string& name : store->list()) {
    const std::optional<GateView> gate = store->look(name);
    if (!gate || (options.overrides && !is_overridden(*gate))) continue;
    json.push_back(summary_json(*gate));
    table.add(summary_row(*gate));
  }
  if (options.json) {
    std::cout << json.dump(2) << "\n";
  } else if (!table.empty()) {
    std::cout << table.text();
  }
  return 0;
}

int show(const Command& command, Look& options) {
  const std::optional<GateView> gate = command.open()->look(*options.gate);
  if (!gate) throw Exit{1, "gate \"" + options.gate->text() + "\" is not known to this store"};
  if (options.json) {
    std::cout << whole_json(*gate).dump(2) << "\n";
  } else {
    std::cout << whole_text(*gate);
  }
  return 0;
}

int metrics(const Command& command, Look& options) {
  write_metrics(*command.open(), std::cout, [&](std::string_view gate) {
    return fnmatch(options.match.c_str(), std::string(gate).c_str(), 0) == 0;
  });
  return 0;
}

}  // namespace

void add_look(CLI::App& app, Command& command) {
  const auto listed = std::make_shared<Look>();
  CLI::App& ls_app =
      add_subcommand(app, command, "ls", "Lists the gates that are in use", listed, &ls);
  ls_app.add_flag("--overrides", listed->overrides, "Only those that an operator has changed");
  ls_app.add_flag("--json", listed->json, "For programs");

  const auto shown = std::make_shared<Look>();
  CLI::App& show_app = add_subcommand(
      app, command, "show", "Shows a gate: who is in, who waits, what was set", shown, &show);
  show_app.add_flag("--json", shown->json, "For programs");
  add_gate(show_app, shown->gate);

  const auto measured = std::make_shared<Look>();
  add_subcommand(app, command, "metrics", "Writes what is counted, for Prometheus", measured,
                 &metrics)
      .add_option("--match", measured->match, "Only gates like this, as in `api:*`")
      ->type_name("GLOB");
}

}  // namespace airlock::cli
