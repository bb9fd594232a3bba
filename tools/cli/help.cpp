#include "help.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "suggest.hpp"

namespace airlock::cli {
namespace {

constexpr const char* kAbout =
    "Locks, slots and rate limits for commands: one line at the door of whatever must not be\n"
    "overrun. The state is shared by all programs that name the same store.";

constexpr const char* kFooter = R"(Examples:
  airlock run backup -- rsync -a /data /mnt       one at a time, waits for its turn
  airlock run -n cron-job ./job.sh                or gives up at once with status 75
  airlock run --slots 3 --rate 10/s api curl ...  three at once, ten per second
  airlock ls                                      what is in use and who waits

Environment: AIRLOCK_STORE is the store unless --store names one; without both it is shm:,
the shared memory of this user on this host. AIRLOCK_SERVER and AIRLOCK_SERVER_TOKEN are the
server, and the token for it, of the commands that work over one.

Status: 0 or the command's own; 64 usage, 69 store or server unavailable, 71 out of memory,
threads or descriptors, 74 output cannot be written, 75 refused, 76 lease lost, 126 and 127 as in
a shell.)";

struct Examples {
  std::string_view command;
  const char* text;
};

constexpr std::array kExamples = {
    Examples{"run",
             R"(  airlock run backup -- rsync -a /data /mnt      one at a time, waits for its turn
  airlock run -n backup ./job.sh                 or gives up at once with status 75
  airlock run -w 5m --slots 3 build make         three at once, five minutes in line at most
  airlock run --rate 10/s --rate 100/h api ./x   not more often; every rate must allow it
  airlock run -s catalogue ./read.sh             with other readers, without the writer)"},
    Examples{
        "acquire",
        R"(  token=$(airlock acquire deploy --ttl 10m)      held for ten minutes, or until released
  airlock acquire deploy --while-pid $$          renewed and held while this shell lives)"},
    Examples{
        "release",
        R"(  airlock release "$token"                       status 76 if it had ended before)"},
    Examples{"renew", R"(  airlock renew "$token" --ttl 10m               ten minutes from now)"},
    Examples{"take", R"(  airlock take mails --rate 100/h || exit        status 75: too soon
  airlock take api --rate 10/s --rate 100/m      every rate must allow it, or nothing is taken
  airlock take api --rate 10/s --wait 5s         reserves its turn and waits for it)"},
    Examples{"ls", R"(  airlock ls                                     all gates: use, holders, line
  airlock ls --match 'api:*' --json              some of them, for programs
  airlock ls --overrides                         limits and pauses that operators left
  airlock ls --server http://127.0.0.1:8420      of the store behind airlock-server)"},
    Examples{"show", R"(  airlock show backup                            who holds it and who waits
  airlock show backup --json | jq .holders       for programs)"},
    Examples{
        "metrics",
        R"(  airlock metrics --match 'api:*' > airlock.prom.new && mv airlock.prom.new airlock.prom)"},
    Examples{
        "top",
        R"(  airlock top                                    arrows select, Enter opens a gate, q quits
  airlock top --store redis://cache --interval 5s
  airlock top --server unix:/run/airlock.sock    over airlock-server)"},
    Examples{
        "limit",
        R"(  airlock limit api 5                            for everybody, at once; 0 closes the gate
  airlock limit api clear                        back to what the visitors ask with)"},
    Examples{
        "pause",
        R"(  airlock pause api --for 10m                    nobody comes in; those inside finish
  airlock pause api --until-resumed              until `airlock resume api`)"},
    Examples{"resume",
             R"(  airlock resume api                             ends the operator's pause)"},
    Examples{
        "revoke",
        R"(  airlock revoke api 3f2a                        one holder, as `airlock show api` lists it
  airlock revoke api --all --now                 everybody, and the slots are free at once)"},
    Examples{"purge", R"(  airlock purge api                              asks first
  airlock purge api --force                      does not)"},
    Examples{"stores", R"(  airlock stores                                 the segments of this user
  airlock stores --all                           of all users, as far as they can be read)"},
    Examples{
        "store",
        R"(  airlock store rm batch                         removes the segment of shm:batch)"},
    Examples{"rm",
             R"(  airlock store rm batch                         refuses while something uses it
  airlock store rm 'shm:batch?dir=/run/batch'    in another folder
  airlock store rm batch --force                 also in use: all leases in it are lost)"},
    Examples{"doctor",
             R"(  airlock doctor                                 every warning comes with what to do
  airlock doctor --json                          for programs

Status: 0, 1 if there is a problem, 69 if the store is unavailable.)"},
    Examples{"serve",
             R"(  airlock serve --listen tcp:127.0.0.1:8420       for programs of this host
  airlock serve --listen unix:/run/airlock.sock   for processes of this user)"},
    Examples{"demo", R"(  airlock demo                                   takes half a minute)"},
};

// Names and kinds of values, without the rules that they are checked by.
class Formatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? "" : " " + type.substr(0, type.find(':'));
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (!app->get_prefix_command()) return usage;
    // The name may also stand behind the dashes, and is needed all the same.
    return usage.substr(0, usage.find(" [NAME]")) + " NAME [--] CMD...\n";
  }
};

const CLI::App& chosen(const CLI::App& app) {
  const CLI::App* found = &app;
  while (!found->get_subcommands().empty()) found = found->get_subcommands().front();
  return *found;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

std::string see_help(const CLI::App& app) { return "; `" + full_name(app) + " --help` says more"; }

std::string unexpected(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const auto is_option = [](const std::string& word) {
    return word.size() > 1 && word.starts_with('-') && word != "--";
  };
  const auto option = std::find_if(words.begin(), words.end(), is_option);
  if (option != words.end()) return unknown_option(chosen(app), *option);
  const CLI::App& sub = chosen(app);
  const std::string word = words.empty() ? "" : " \"" + words.front() + "\"";
  return sub.get_name() + ": unexpected argument" + word + see_help(sub);
}

// `--slots: 1 required N missing` and its like: the option comes first.
std::string wrong_number_of_values(const CLI::App& app, const std::string& what) {
  const std::string option = what.substr(0, what.find_first_of(": "));
  const bool is_missing = what.ends_with("missing");
  return option + (is_missing ? ": its value is missing" : ": takes no value") + see_help(app);
}

std::string missing(const CLI::App& app, std::string what) {
  if (!app.get_subcommands({}).empty()) return "a command is needed" + see_help(app);
  constexpr std::string_view kRequired = "required";
  const std::size_t at = what.rfind(kRequired);
  if (at != std::string::npos) what.replace(at, kRequired.size(), "missing");
  return app.get_name() + ": " + what + see_help(app);
}

// `inherited` is the footer that CLI11 gives subcommands without one.
void add_inherited_examples(CLI::App& app, const std::string& inherited) {
  for (CLI::App* const sub : app.get_subcommands({})) {
    const auto* const found =
        std::find_if(kExamples.begin(), kExamples.end(),
                     [&](const Examples& each) { return each.command == sub->get_name(); });
    const std::string own = sub->get_footer() == inherited ? "" : sub->get_footer() + "\n\n";
    sub->footer(own + (found == kExamples.end() ? "" : std::string("Examples:\n") + found->text));
    add_inherited_examples(*sub, inherited);
  }
}

}  // namespace

void describe(CLI::App& app) {
  app.description(kAbout);
  app.footer(kFooter);
  app.formatter(std::make_shared<Formatter>());
}

void add_examples(CLI::App& app) { add_inherited_examples(app, app.get_footer()); }

std::string unknown_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* const option : app.get_options({})) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string name = word.substr(0, word.find('='));
  return app.get_name() + ": unknown option " + name + did_you_mean(name, known) + see_help(app);
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& sub = chosen(app);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected(app);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return missing(sub, error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return wrong_number_of_values(sub, error.what());
  }
  return error.what() + see_help(sub);
}

}  // namespace airlock::cli
