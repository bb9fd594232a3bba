#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>
#include <new>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

#include "airlock/error.hpp"
#include "checked_output.hpp"
#include "command.hpp"
#include "help.hpp"
#include "inherited.hpp"
#include "output.hpp"
#include "suggest.hpp"
#include "version.hpp"

namespace airlock::cli {
namespace {

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
    Commands{{"stores", "store"}, add_stores},
    Commands{{"doctor"}, add_doctor},
    Commands{{"serve"}, add_serve},
    Commands{{"demo"}, add_demo},
};

// The first word that is no option of all commands.
std::string command_word(std::span<const std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--store") {
      ++i;
    } else if (!arguments[i].starts_with("--store=")) {
      return arguments[i];
    }
  }
  return {};
}

[[noreturn]] void fail_unknown(const std::string& word) {
  std::vector<std::string> known;
  for (const Commands& commands : kCommands) {
    known.insert(known.end(), commands.names.begin(), commands.names.end());
  }
  throw Exit{kUsage, "\"" + word + "\" is not a command" + did_you_mean(word, known) +
                         "; `airlock --help` lists them"};
}

// Setting all of them up takes longer than many commands run: only what is asked for, where that is
// clear.
void add_commands(CLI::App& app, Command& command, const std::string& word) {
  const auto has_word = [&word](const Commands& commands) {
    return std::find(commands.names.begin(), commands.names.end(), word) != commands.names.end();
  };
  const auto* const asked = std::find_if(kCommands.begin(), kCommands.end(), has_word);
  if (asked != kCommands.end()) return asked->add(app, command);
  if (!word.empty() && !word.starts_with('-')) fail_unknown(word);
  for (const Commands& commands : kCommands) commands.add(app, command);
}

// What follows `--` is the command of `run`, and of the others an argument.
void split_at_dashes(Command& command, std::vector<std::string>& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) command.after_dashes.assign(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
}

void refuse_unknown_option(const CLI::App& run) {
  const std::vector<std::string> rest = run.remaining();
  if (rest.empty() || !rest.front().starts_with('-')) return;
  throw Exit{kUsage, unknown_option(run, rest.front())};
}

// What was written through std::cout, and may be in its buffer.
void require_written() {
  errno = 0;
  if (!std::cout.flush()) throw Exit{kOutput, "standard output: " + error_text(errno)};
}

int parse(CLI::App& app, Command& command, std::vector<std::string> arguments, bool is_run) {
  if (is_run) split_at_dashes(command, arguments);
  std::reverse(arguments.begin(), arguments.end());  // As CLI11 wants them.
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream text;
    app.exit(asked, text, text);
    write_output(text.str());
    return 0;
  } catch (const CLI::ParseError& error) {
    throw Exit{kUsage, usage_error(app, error)};
  }
  if (is_run) refuse_unknown_option(*app.get_subcommand("run"));
  const int status = command.action();
  require_written();
  return status;
}

int fail(int status, const std::string& message) {
  if (!message.empty()) std::cerr << "airlock: " << message << "\n";
  return status;
}

int run(std::vector<std::string> arguments) {
  Command command;
  CLI::App app("", "airlock");
  describe(app);
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.option_defaults()->take_last();
  app.add_option("--store", command.store_uri,
                 "shm:, shm:NAME or redis://HOST [$AIRLOCK_STORE, else shm:]")
      ->envname("AIRLOCK_STORE")
      ->type_name("URI");
  const std::string word = command_word(arguments);
  add_commands(app, command, word);
  add_examples(app);
  return parse(app, command, std::move(arguments), word == "run");
}

int guarded_run(int argc, char** argv) try {
  return run({argv + 1, argv + argc});
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
} catch (const std::bad_alloc&) {
  return fail(kSystem, "out of memory");
} catch (const std::system_error& error) {
  return fail(kSystem, error.what());
} catch (const std::exception& error) {
  return fail(kInternal, std::string("internal error: ") + error.what());
}

}  // namespace
}  // namespace airlock::cli

int main(int argc, char** argv) {
  airlock::cli::prepare_process();
  return airlock::cli::guarded_run(argc, argv);
}
