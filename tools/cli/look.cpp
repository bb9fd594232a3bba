#include <ostream>
#include <streambuf>

#include "checked_output.hpp"
#include "command.hpp"
#include "control.hpp"
#include "gate_text.hpp"
#include "output.hpp"
#include "suggest.hpp"

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
  Json json = Json::array();
  Table table(summary_heading());
  for (const GateSummary& summary : command.control()->survey(options.match)) {
    if (options.overrides && !is_overridden(summary.gate)) continue;
    if (options.json) {
      json.push_back(summary_json(summary));
    } else {
      table.add(summary_row(summary));
    }
  }
  if (options.json) {
    print_json(json);
  } else if (!table.empty()) {
    write_output(table.text());
  }
  return 0;
}

int show(const Command& command, Look& options) {
  const std::unique_ptr<Control> control = command.control();
  const std::optional<GateReport> gate = control->look(*options.gate);
  if (!gate) {
    const std::string& name = options.gate->text();
    throw Exit{1, "gate \"" + name + "\" is not known to this store" +
                      did_you_mean(name, control->list()) + "; `airlock ls` lists those that are"};
  }
  if (options.json) {
    print_json(whole_json(*gate));
  } else {
    write_output(whole_text(*gate));
  }
  return 0;
}

// Standard output, in the pieces in which it is written.
class OutputBuffer final : public std::streambuf {
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    write_output({text, static_cast<std::size_t>(size)});
    return size;
  }
};

int metrics(const Command& command, Look& options) {
  OutputBuffer buffer;
  std::ostream output(&buffer);
  output.exceptions(std::ios::badbit);
  command.control()->write_metrics(output, options.match);
  return 0;
}

void add_match(CLI::App& app, Look& options) {
  app.add_option("--match", options.match, "Only gates like this, as in 'api:*'")
      ->type_name("GLOB");
}

}  // namespace

void add_look(CLI::App& app, Command& command) {
  const auto listed = std::make_shared<Look>();
  CLI::App& ls_app =
      add_operator_command(app, command, "ls", "Lists the gates that are in use", listed, &ls);
  add_match(ls_app, *listed);
  ls_app.add_flag("--overrides", listed->overrides, "Only those that an operator has changed");
  ls_app.add_flag("--json", listed->json, "For programs");

  const auto shown = std::make_shared<Look>();
  CLI::App& show_app = add_operator_command(
      app, command, "show", "Shows a gate: holders, waiters, overrides", shown, &show);
  show_app.add_flag("--json", shown->json, "For programs");
  add_gate(show_app, shown->gate);

  const auto measured = std::make_shared<Look>();
  add_match(add_operator_command(app, command, "metrics", "Writes what is counted, for Prometheus",
                                 measured, &metrics),
            *measured);
}

}  // namespace airlock::cli
