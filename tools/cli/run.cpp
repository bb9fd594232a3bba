#include <unistd.h>

#include <array>
#include <iostream>

#include "airlock/error.hpp"
#include "child.hpp"
#include "command.hpp"
#include "entry.hpp"
#include "nesting.hpp"
#include "supervisor.hpp"

namespace airlock::cli {
namespace {

struct Run : Entry {
  Duration max_hold = kForever;
  bool orphan = false;
  std::vector<std::string> command = {};
};

// `host:pid command`, as much of it as a label may have.
std::string label_of(const std::string& command) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"?"};
  const std::size_t slash = command.find_last_of('/');
  const std::string name = command.substr(slash == std::string::npos ? 0 : slash + 1, 32);
  const std::string tail = ':' + std::to_string(getpid()) + ' ' + name;
  std::string text = std::string(host.data()).substr(0, kMaxLabelSize - tail.size()) + tail;
  for (char& byte : text) {
    if (byte < ' ' || byte > '~') byte = '?';
  }
  return text;
}

// Of an admission that holds nothing, too: its processes are known by it.
Token token_of(const Lease& lease, const GateName& gate) {
  if (lease.fence() != 0) return lease.token();
  return {.store = 0, .gate = gate, .visitor = VisitorId::random(), .fence = 0};
}

std::vector<std::string> environment(const Lease& lease, const GateName& gate,
                                     const std::string& token) {
  std::vector<std::string> added = {"AIRLOCK_GATE=" + gate.text(),
                                    "AIRLOCK_FENCE=" + std::to_string(lease.fence()),
                                    tokens_variable(token)};
  if (lease.fence() != 0) added.push_back("AIRLOCK_TOKEN=" + token);
  if (lease.slot()) added.push_back("AIRLOCK_SLOT=" + std::to_string(*lease.slot()));
  return added;
}

// What the store knows of a lease that is lost.
std::string ask_why_lost(const Command& command, const Token& token) try {
  const std::optional<GateView> view = command.open().look(token.gate);
  for (const HolderView& holder : view ? view->holders : std::vector<HolderView>()) {
    if (holder.visitor != token.visitor || holder.fence != token.fence) continue;
    return holder.revoked ? "an operator revoked it" : "it could not be renewed in time";
  }
  return "the store has ended it: revoked with --now, purged, or not renewed within its ttl";
} catch (const Error& error) {
  return std::string("it could not be renewed within its ttl, the store does not answer: ") +
         error.what();
}

// `--` before it says where it begins, anywhere else it belongs to it; NAME may follow it, too.
void complete(Run& options, std::vector<std::string> after_dashes) {
  if (!options.gate && !after_dashes.empty()) {
    options.gate.emplace(after_dashes.front());
    after_dashes.erase(after_dashes.begin());
    if (!after_dashes.empty() && after_dashes.front() == "--") {
      after_dashes.erase(after_dashes.begin());
    }
  }
  std::vector<std::string>& whole = options.command;
  if (!whole.empty() && whole.front().starts_with('-')) {
    throw InvalidArgument("run: unknown option " + whole.front());
  }
  if (!whole.empty() && !after_dashes.empty()) whole.emplace_back("--");
  whole.insert(whole.end(), after_dashes.begin(), after_dashes.end());
  if (!options.gate) throw InvalidArgument("run: the NAME of a gate and a command are needed");
  if (whole.empty()) throw InvalidArgument("run: a command is needed after the name");
  if (options.max_hold <= Duration(0)) throw InvalidArgument("--max-hold: above 0 is needed");
}

int run(const Command& command, Run& options) {
  complete(options, command.after_dashes);
  const std::string path = find_executable(options.command.front());
  if (options.label.empty()) options.label = label_of(options.command.front());
  Signals signals;
  Lease lease = enter(command, options, signals);
  const Token token = token_of(lease, *options.gate);
  const std::string text = token.text();
  Supervisor supervisor(lease, signals,
                        {.ttl = options.ttl,
                         .max_hold = options.max_hold,
                         .guarded = !options.orphan,
                         .mark = text,
                         .why_lost = [&] { return ask_why_lost(command, token); }});
  Child child({.path = path,
               .arguments = options.command,
               .environment = environment(lease, *options.gate, text),
               .outlives_us = options.orphan,
               .own_group = !has_terminal()},
              signals);
  const int status = supervisor.wait(child);
  if (supervisor.is_ending()) return kLost;
  lease.release();
  return status;
}

}  // namespace

void add_run(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Run>();
  CLI::App& run_app = add_subcommand(
      app, command, "run", "Runs a command inside a gate: one at a time, or in several slots",
      options, &run);
  add_permit_options(run_app, *options,
                     "Free this long after airlock vanished [30s]; renewed till then");
  add_rate_options(run_app, *options);
  add_wait_options(run_app, *options);
  add_duration(run_app, "--max-hold", options->max_hold, "The command is ended after this");
  add_choice<bool>(run_app, "--on-outage", options->run_on_outage, {{"fail", false}, {"run", true}},
                   "With the store unavailable: fail [default] or run unguarded")
      ->type_name("fail|run");
  run_app.add_flag("--orphan", options->orphan,
                   "The command continues, unguarded, if airlock itself is killed");
  add_gate(run_app, options->gate)->required(false);
  run_app.prefix_command();
  run_app.footer("What follows NAME is the command; `--` before it is optional.");
  run_app.parse_complete_callback([options, &run_app] { options->command = run_app.remaining(); });
}

}  // namespace airlock::cli
