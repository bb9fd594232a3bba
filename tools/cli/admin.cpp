#include <unistd.h>

#include <iostream>

#include "airlock/error.hpp"
#include "checked_output.hpp"
#include "command.hpp"
#include "control.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

constexpr std::uint32_t kLargestLimit = 1U << 31;

struct Steer {
  std::optional<GateName> gate = {};
  std::optional<std::uint32_t> limit = {};  // Empty: clear.
  Duration duration{0};
  bool until_resumed = false;
  std::string visitor;
  bool all = false;
  bool now = false;
  bool force = false;
};

std::uint32_t parse_limit(const std::string& text) try {
  return static_cast<std::uint32_t>(parse_number(text, 0, kLargestLimit));
} catch (const InvalidArgument& error) {
  throw InvalidArgument(std::string(error.what()) + ", or `clear`");
}

int limit(const Command& command, Steer& options) {
  command.control()->set_limit(*options.gate, options.limit);
  return 0;
}

int pause(const Command& command, Steer& options) {
  if (!options.until_resumed && options.duration == Duration(0)) {
    throw InvalidArgument("pause: --for DURATION or --until-resumed is needed");
  }
  command.control()->pause(*options.gate, options.until_resumed ? kMaxTtl : options.duration);
  return 0;
}

int resume(const Command& command, Steer& options) {
  if (command.control()->resume(*options.gate)) return 0;
  throw Exit{1, "gate \"" + options.gate->text() + "\": no operator had paused it"};
}

// The digest that begins so.
std::string find_visitor(Control& control, const GateName& gate, const std::string& prefix) {
  std::string found;
  const std::optional<GateReport> report = control.look(gate);
  for (const std::string& visitor : report ? report->holders : std::vector<std::string>()) {
    if (!visitor.starts_with(prefix)) continue;
    if (!found.empty())
      throw InvalidArgument("visitor " + prefix + ": several visitors begin with that; see `show`");
    found = visitor;
  }
  return found;
}

int revoke(const Command& command, Steer& options) {
  if (options.visitor.empty() != options.all) {
    throw InvalidArgument("revoke: a visitor, as `show` lists them, or --all is needed");
  }
  const std::unique_ptr<Control> control = command.control();
  std::optional<std::string> visitor;
  if (!options.all) visitor = find_visitor(*control, *options.gate, options.visitor);
  const auto how = options.now ? Revoke::now : Revoke::graceful;
  const bool is_known = !visitor || !visitor->empty();
  const auto revoked =
      is_known ? control->revoke(*options.gate, visitor, how) : std::optional<std::size_t>();
  if (!revoked) {
    throw Exit{kLost,
               "gate \"" + options.gate->text() + "\": no holder is called " + options.visitor};
  }
  write_output(std::to_string(*revoked) + " revoked\n");
  return 0;
}

bool confirms(const GateName& gate) {
  if (isatty(STDIN_FILENO) == 0)
    throw InvalidArgument("purge: without a terminal --force is needed");
  std::cerr << "Forget holders, line, rates and overrides of \"" << gate.text() << "\"? [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int purge(const Command& command, Steer& options) {
  if (!options.force && !confirms(*options.gate)) throw Exit{1, "nothing purged"};
  if (command.control()->purge(*options.gate)) return 0;
  throw Exit{1, "gate \"" + options.gate->text() + "\" is not known to this store"};
}

CLI::App& add(CLI::App& app, Command& command, const char* name, const char* help,
              const std::shared_ptr<Steer>& options,
              int (*action)(const Command& command, Steer& options)) {
  CLI::App& added = add_operator_command(app, command, name, help, options, action);
  add_gate(added, options->gate);
  return added;
}

}  // namespace

void add_steer(CLI::App& app, Command& command) {
  const auto limited = std::make_shared<Steer>();
  const auto read_limit = [limited](const std::string& text) {
    if (text != "clear") limited->limit = parse_limit(text);
  };
  CLI::App& limit_app =
      add(app, command, "limit", "Sets a limit instead of the visitors' own, until cleared",
          limited, &limit);
  add_text(limit_app, "LIMIT", read_limit, "A number; 0 closes the gate; or `clear`")
      ->required()
      ->type_name("");

  const auto paused = std::make_shared<Steer>();
  CLI::App& pause_app =
      add(app, command, "pause", "Admits nobody; holders may finish", paused, &pause);
  auto* const duration = add_duration(pause_app, "--for", paused->duration, "For so long");
  auto* const until = pause_app.add_flag("--until-resumed", paused->until_resumed,
                                         "Until `resume`, for a year at most");
  duration->excludes(until);

  const auto resumed = std::make_shared<Steer>();
  add(app, command, "resume", "Lifts the operator's pause", resumed, &resume);

  const auto revoked = std::make_shared<Steer>();
  CLI::App& revoke_app = add(app, command, "revoke", "Tells a holder to stop", revoked, &revoke);
  revoke_app.add_option("VISITOR", revoked->visitor, "As `show` lists it, or its beginning")
      ->type_name("");
  revoke_app.add_flag("--all", revoked->all, "All holders");
  revoke_app.add_flag("--now", revoked->now, "The slot is free at once, without a grace");

  const auto purged = std::make_shared<Steer>();
  add(app, command, "purge", "Forgets a gate: holders, line, rates, overrides", purged, &purge)
      .add_flag("--force", purged->force, "Does not ask");
}

}  // namespace airlock::cli
