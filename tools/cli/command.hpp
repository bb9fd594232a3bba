#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "airlock/store.hpp"

// What the subcommands share: how they end, how they are found, how they read values.

namespace airlock::cli {

// Stable: scripts depend on them.
inline constexpr int kUsage = 64;
inline constexpr int kUnavailable = 69;
inline constexpr int kInternal = 70;
inline constexpr int kSystem = 71;  // No memory, descriptor, process or thread was to be had.
inline constexpr int kOutput = 74;  // Standard output cannot be written to.
inline constexpr int kRefused = 75;
inline constexpr int kLost = 76;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

// Ends the command: with this status and, unless it is empty, this message on stderr.
struct Exit {
  int status = 0;
  std::string message = {};
};

class Control;

// Where the gates are, as the options say: before the subcommand, or behind it.
struct Location {
  std::string store = {};
  std::string server = {};
  std::string ca = {};
  std::string token_file = {};
};

// What was said besides the subcommand's own options, and the subcommand that was chosen.
struct Command {
  Location before = {};
  Location behind = {};            // What is said here counts.
  bool works_over_server = false;  // The subcommand.
  std::string store_uri = {};
  bool is_store_named = false;                 // By an option or AIRLOCK_STORE.
  std::vector<std::string> after_dashes = {};  // What follows `--`. For run.
  std::function<int()> action = {};

  // Once all options are read. Exit, unless `works_over_server`, where --server is said.
  void find_store(const std::string& subcommand);

  // For commands that admit: a segment that is not there is made. Exit where only AIRLOCK_SERVER says
  // where the gates are.
  [[nodiscard]] Store open() const;

  // For commands that look or set.
  [[nodiscard]] std::unique_ptr<Control> control() const;

 private:
  Location location_ = {};
  std::string subcommand_ = {};
};

// One for every subcommand, or for a few that belong together; each in a file of that name.
void add_run(CLI::App& app, Command& command);
void add_acquire(CLI::App& app, Command& command);  // acquire, release, renew
void add_take(CLI::App& app, Command& command);
void add_look(CLI::App& app, Command& command);    // ls, show, metrics
void add_steer(CLI::App& app, Command& command);   // limit, pause, resume, revoke, purge
void add_stores(CLI::App& app, Command& command);  // stores, store rm

void add_top(CLI::App& app, Command& command);
void add_doctor(CLI::App& app, Command& command);
void add_demo(CLI::App& app, Command& command);
void add_serve(CLI::App& app, Command& command);

// Exit: the subcommand needs a store.
[[noreturn]] void refuse_server(const std::string& subcommand);

// What the store said where an operation failed because of it.
[[nodiscard]] std::optional<StoreError> store_failure(const std::exception& error);

// The one way to read the value of an option. InvalidArgument while parsing names the option, the
// value and the rule, in words of the shell.
CLI::Option* add_text(CLI::App& app, const std::string& name,
                      const std::function<void(const std::string& text)>& read,
                      const std::string& help);
CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& value,
                          const std::string& help);
CLI::Option* add_gate(CLI::App& app, std::optional<GateName>& value);

// The same for whole numbers from `min` to `max`.
[[nodiscard]] std::uint64_t parse_number(const std::string& text, std::uint64_t min,
                                         std::uint64_t max);
template <typename Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& value, std::uint64_t min,
                        std::uint64_t max, const std::string& help) {
  const auto read = [&value, min, max](const std::string& text) {
    value = static_cast<Number>(parse_number(text, min, max));
  };
  return add_text(app, name, read, help)->type_name("N");
}

// The same for one of a few words. The place of the word in `words`.
[[nodiscard]] std::size_t parse_choice(const std::string& text,
                                       const std::vector<std::string>& words);
template <typename Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const std::vector<std::pair<std::string, Value>>& choices,
                        const std::string& help) {
  const auto read = [&value, choices](const std::string& text) {
    std::vector<std::string> words(choices.size());
    std::ranges::transform(choices, words.begin(), [](const auto& each) { return each.first; });
    value = choices[parse_choice(text, words)].second;
  };
  return add_text(app, name, read, help);
}

void add_store_option(CLI::App& app, Location& location);
void add_server_options(CLI::App& app, Location& location);  // --server, --ca, --token-file

// A subcommand whose options are kept in one object for as long as it may run.
template <typename Options>
CLI::App& add_subcommand(CLI::App& app, Command& command, const char* name, const char* help,
                         const std::shared_ptr<Options>& options,
                         int (*action)(const Command& command, Options& options)) {
  CLI::App& added = *app.add_subcommand(name, help);
  add_store_option(added, command.behind);
  added.callback([&command, options, action, name] {
    command.action = [&command, options, action, name] {
      command.find_store(name);
      return action(command, *options);
    };
  });
  return added;
}

// The same for one that uses Command::control(), and so works over a server, too.
template <typename Options>
CLI::App& add_operator_command(CLI::App& app, Command& command, const char* name, const char* help,
                               const std::shared_ptr<Options>& options,
                               int (*action)(const Command& command, Options& options)) {
  CLI::App& added = add_subcommand(app, command, name, help, options, action);
  add_server_options(added, command.behind);
  return added;
}

}  // namespace airlock::cli
