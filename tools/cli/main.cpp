#include <algorithm>
#include <array>
#include <iostream>
#include <span>
#include <string_view>

#include "airlock/error.hpp"
#include "command.hpp"
#include "version.hpp"

namespace airlock::cli {
namespace {

constexpr const char* kAbout =
    "Locks, slots and rate limits for commands: one line at the door of whatever must not be\n"
    "overrun. The state is shared by everybody who names the same store.";

constexpr const char* kFooter = R"(Examples:
  airlock run backup -- rsync -a /data /mnt       one at a time, waits for its turn
  airlock run -n cron-job ./job.sh                or gives up at once with status 75
  airlock run --slots 3 --rate 10/s api curl ...  three at once, ten per second
  airlock ls                                      what is in use and who waits

Status: 0 or the command's own; 64 usage, 69 store unavailable, 75 refused, 76 lease lost,
126 and 127 as in a shell.)";

struct Commands {
  std::vector<std::string_view> names;
  void (*add)(CLI::App& app, Command& command);
};

const std::array kCommands = {
    Commands{{"run"}, add_run},
    Commands{{"acquire", "release", "renew"}, add_acquire},
    Commands{{"take"}, add_take},
    Commands{{"ls", "show", "metrics"}, add_look},
    Commands{{"limit", "pause", "resume", "revoke", "purge"}, add_steer},
    Commands{{"top"}, add_top},
    Commands{{"doctor"}, add_doctor},
    Commands{{"demo"}, add_demo},
};

// The first word that is no option of all commands.
std::string_view command_word(std::span<const std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--store") {
      ++i;
    } else if (!arguments[i].starts_with("--store=")) {
      return arguments[i];
    }
  }
  return {};
}

// Setting all of them up takes longer than many commands run: only what is asked for, where that is
// clear.
void add_commands(CLI::App& app, Command& command, std::span<const std::string> arguments) {
  const std::string_view word = command_word(arguments);
  const auto has_word = [word](const Commands& commands) {
    return std::find(commands.names.begin(), commands.names.end(), word) != commands.names.end();
  };
  const auto* const asked = std::find_if(kCommands.begin(), kCommands.end(), has_word);
  if (asked != kCommands.end()) return asked->add(app, command);
  for (const Commands& commands : kCommands) commands.add(app, command);
}

// Names and kinds of values, without the rules that they are checked by.
class Formatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? "" : " " + type.substr(0, type.find(':'));
  }
};

std::string describe(const CLI::App* /*app*/, const CLI::Error& error) {
  return std::string("airlock: ") + error.what() + "; `airlock --help` says more\n";
}

int parse(CLI::App& app, Command& command, std::vector<std::string> arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) command.after_dashes.assign(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
  std::reverse(arguments.begin(), arguments.end());  // As CLI11 wants them.
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (!command.after_dashes.empty() && app.get_subcommands().front()->get_name() != "run") {
    throw InvalidArgument("only run takes something after --");
  }
  return command.action();
}

int fail(int status, const std::string& message) {
  if (!message.empty()) std::cerr << "airlock: " << message << "\n";
  return status;
}

int run(int argc, char** argv) try {
  Command command;
  CLI::App app(kAbout, "airlock");
  app.footer(kFooter);
  app.formatter(std::make_shared<Formatter>());
  app.failure_message(describe);
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.add_option("--store", command.store_uri, "Where the state is: shm:, shm:NAME, redis://HOST")
      ->envname("AIRLOCK_STORE")
      ->type_name("URI");
  app.option_defaults()->always_capture_default(false);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  add_commands(app, command, arguments);
  return parse(app, command, std::move(arguments));
} catch (const Exit& exit) {
  return fail(exit.status, exit.message);
} catch (const InvalidArgument& error) {
  return fail(kUsage, error.what());
} catch (const LeaseExpiredError& error) {
  return fail(kLost, error.what());
} catch (const SealReleasingError& error) {
  return fail(store_failure(error) ? kUnavailable : kLost, error.what());
} catch (const Error& error) {
  return fail(kUnavailable, error.what());
}

}  // namespace
}  // namespace airlock::cli

int main(int argc, char** argv) { return airlock::cli::run(argc, argv); }
