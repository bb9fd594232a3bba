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
  bool works_over_server = false;
};

const std::array kCommands = {
    Commands{{"run"}, add_run},
    Commands{{"acquire", "release", "renew"}, add_acquire},
    Commands{{"take"}, add_take},
    Commands{{"ls", "show", "metrics"}, add_look, true},
    Commands{{"limit", "pause", "resume", "revoke", "purge"}, add_steer, true},
    Commands{{"top"}, add_top, true},
    Commands{{"stores", "store"}, add_stores},
    Commands{{"doctor"}, add_doctor, true},
    Commands{{"serve"}, add_serve},
    Commands{{"demo"}, add_demo},
};

constexpr std::array<std::string_view, 4> kCommonOptions = {"--store", "--server", "--ca",
                                                            "--token-file"};

// With its value: --store=URI.
bool is_common_option(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  return equals != std::string::npos &&
         std::ranges::find(kCommonOptions, argument.substr(0, equals)) != kCommonOptions.end();
}

// Where the first word is that is no option of all commands.
std::size_t command_place(std::span<const std::string> arguments) {
  std::size_t i = 0;
  for (; i < arguments.size(); ++i) {
    if (std::ranges::find(kCommonOptions, arguments[i]) != kCommonOptions.end()) {
      ++i;
    } else if (!is_common_option(arguments[i])) {
      break;
    }
  }
  return std::min(i, arguments.size());
}

bool names_server(const std::string& argument) {
  return argument == "--server" || argument.starts_with("--server=");
}

// Options cost time, and most commands have no use for these. Exit for such a command that has one of them all the same,
// if it is not an argument of what `run` runs.
bool has_server_options(std::span<const std::string> arguments, const Commands* asked) {
  if (asked == nullptr || asked->works_over_server) return true;
  const std::size_t place = command_place(arguments);
  for (const std::string& argument : arguments.subspan(place + 1)) {
    if (!argument.starts_with('-') || argument == "--") break;
    if (names_server(argument)) refuse_server(arguments[place]);
  }
  return place != 0;
}

[[noreturn]] void fail_unknown(const std::string& word) {
  std::vector<std::string> known;
  for (const Commands& commands : kCommands) {
    known.insert(known.end(), commands.names.begin(), commands.names.end());
  }
  throw Exit{kUsage, "\"" + word + "\" is not a command" + did_you_mean(word, known) +
                         "; `airlock --help` lists them"};
}

// Null: none has this name.
const Commands* find_commands(const std::string& word) {
  const auto has_word = [&word](const Commands& commands) {
    return std::find(commands.names.begin(), commands.names.end(), word) != commands.names.end();
  };
  const auto* const found = std::find_if(kCommands.begin(), kCommands.end(), has_word);
  return found == kCommands.end() ? nullptr : found;
}

// Setting all of them up takes longer than many commands run: only what is asked for, where that is
// clear.
void add_commands(CLI::App& app, Command& command, const std::string& word, const Commands* asked) {
  if (asked != nullptr) return asked->add(app, command);
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
  add_store_option(app, command.before);
  const std::size_t place = command_place(arguments);
  const std::string word = place < arguments.size() ? arguments[place] : "";
  const Commands* const asked = find_commands(word);
  command.works_over_server = asked != nullptr && asked->works_over_server;
  if (has_server_options(arguments, asked)) add_server_options(app, command.before);
  add_commands(app, command, word, asked);
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
