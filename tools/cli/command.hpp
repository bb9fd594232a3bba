#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "airlock/store.hpp"

// What the subcommands share: how they end, how they are found, how they read values.

namespace airlock::cli {

// Stable: scripts depend on them.
inline constexpr int kUsage = 64;
inline constexpr int kUnavailable = 69;
inline constexpr int kRefused = 75;
inline constexpr int kLost = 76;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

// Ends the command: with this status and, unless it is empty, this message on stderr.
struct Exit {
  int status = 0;
  std::string message = {};
};

// What was said besides the subcommand's own options, and the subcommand that was chosen.
struct Command {
  std::string store_uri = "shm:";
  std::string store_behind = {};  // The same, said behind the subcommand: then this one counts.
  std::vector<std::string> after_dashes = {};  // What follows `--`. For run.
  std::function<int()> action = {};

  [[nodiscard]] std::shared_ptr<Store> open() const { return open_store(store_uri); }
};

// One for every subcommand, or for a few that belong together; each in a file of that name.
void add_run(CLI::App& app, Command& command);
void add_acquire(CLI::App& app, Command& command);  // acquire, release, renew
void add_take(CLI::App& app, Command& command);
void add_look(CLI::App& app, Command& command);   // ls, show, metrics
void add_steer(CLI::App& app, Command& command);  // limit, pause, resume, revoke, purge

void add_top(CLI::App& app, Command& command);
void add_doctor(CLI::App& app, Command& command);
void add_demo(CLI::App& app, Command& command);

// What the store said where an operation failed because of it.
[[nodiscard]] std::optional<StoreError> store_failure(const std::exception& error);

// Options and arguments whose text has rules of ours: InvalidArgument while parsing.
CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& value,
                          const std::string& help);
CLI::Option* add_gate(CLI::App& app, std::optional<GateName>& value);

// A subcommand whose options are kept in one object for as long as it may run.
template <typename Options>
CLI::App& add_subcommand(CLI::App& app, Command& command, const char* name, const char* help,
                         const std::shared_ptr<Options>& options,
                         int (*action)(const Command& command, Options& options)) {
  CLI::App& added = *app.add_subcommand(name, help);
  added.add_option("--store", command.store_behind)->group("");
  added.callback([&command, options, action] {
    command.action = [&command, options, action] {
      if (!command.store_behind.empty()) command.store_uri = command.store_behind;
      return action(command, *options);
    };
  });
  return added;
}

}  // namespace airlock::cli
