#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

// The texts of --help and of usage errors.

namespace airlock::cli {

// Sets them for the command itself.
void describe(CLI::App& app);

// Gives every subcommand examples of its own.
void add_examples(CLI::App& app);

// What is wrong with the arguments that `app` was given: the word, the rule, the way out.
[[nodiscard]] std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

// An option that the subcommand does not have.
[[nodiscard]] std::string unknown_option(const CLI::App& app, const std::string& word);

}  // namespace airlock::cli
