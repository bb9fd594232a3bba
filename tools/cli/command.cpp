#include "command.hpp"

#include <charconv>
#include <cstdlib>

#include "airlock/error.hpp"
#include "remote/server_control.hpp"
#include "remote/token.hpp"
#include "store_control.hpp"
#include "suggest.hpp"

namespace airlock::cli {
namespace {

// What people know an option by: `--wait` of `-w,--wait,--timeout`.
std::string shown_name(const std::string& names) {
  const std::size_t dashes = names.find("--");
  const std::string name = dashes == std::string::npos ? names : names.substr(dashes);
  return name.substr(0, name.find(','));
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes it
  return value == nullptr ? "" : value;
}

const std::string& first_of(const std::string& a, const std::string& b) {
  return a.empty() ? b : a;
}

}  // namespace

void refuse_server(const std::string& subcommand) {
  throw Exit{kUsage, subcommand +
                         ": does not work over a server (--server, AIRLOCK_SERVER); it needs a "
                         "store: --store URI, or AIRLOCK_STORE"};
}

void Command::find_store(const std::string& subcommand) {
  subcommand_ = subcommand;
  location_ = {.store = first_of(behind.store, before.store),
               .server = first_of(behind.server, before.server),
               .ca = first_of(behind.ca, before.ca),
               .token_file = first_of(behind.token_file, before.token_file)};
  if (!location_.server.empty() && !works_over_server) refuse_server(subcommand);
  if (!location_.server.empty() && !location_.store.empty())
    throw InvalidArgument("--server and --store exclude each other");
  if (location_.server.empty() && !(location_.ca + location_.token_file).empty() &&
      environment("AIRLOCK_SERVER").empty())
    throw InvalidArgument("--ca and --token-file are for --server");
  if (location_.server.empty() && location_.store.empty())
    location_.server = environment("AIRLOCK_SERVER");
  store_uri = location_.store.empty() ? environment("AIRLOCK_STORE") : location_.store;
  is_store_named = !store_uri.empty();
  if (!is_store_named) store_uri = "shm:";
}

Store Command::open() const {
  if (!location_.server.empty() && !is_store_named) refuse_server(subcommand_);
  return open_store(store_uri);
}

std::unique_ptr<Control> Command::control() const {
  if (location_.server.empty()) return store_control(store_uri);
  return server_control(
      {.url = location_.server,
       .ca = location_.ca,
       .token = read_token(location_.token_file, environment("AIRLOCK_SERVER_TOKEN"))});
}

std::optional<StoreError> store_failure(const std::exception& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const StoreError& cause) {
    return cause;
  } catch (...) {  // NOLINT(bugprone-empty-catch): of another kind
  }
  return std::nullopt;
}

void add_store_option(CLI::App& app, Location& location) {
  app.add_option("--store", location.store,
                 "shm:, shm:NAME or redis://HOST [$AIRLOCK_STORE, else shm:]")
      ->type_name("URI");
}

void add_server_options(CLI::App& app, Location& location) {
  app.add_option("--server", location.server,
                 "airlock-server, for commands of operators [$AIRLOCK_SERVER]")
      ->type_name("URL");
  app.add_option("--ca", location.ca, "Authorities for https:// [the system's]")->type_name("FILE");
  app.add_option("--token-file", location.token_file,
                 "The token for the server [$AIRLOCK_SERVER_TOKEN]")
      ->type_name("FILE");
}

CLI::Option* add_text(CLI::App& app, const std::string& name,
                      const std::function<void(const std::string& text)>& read,
                      const std::string& help) {
  const auto checked = [read, name](const std::string& text) {
    try {
      read(text);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(shown_name(name) + ": " + error.what());
    }
  };
  return app.add_option_function<std::string>(name, checked, help);
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& value,
                          const std::string& help) {
  const auto read = [&value](const std::string& text) { value = parse_duration(text); };
  return add_text(app, name, read, help)->type_name("DURATION");
}

CLI::Option* add_gate(CLI::App& app, std::optional<GateName>& value) {
  const auto read = [&value](const std::string& text) { value.emplace(text); };
  return app.add_option_function<std::string>("NAME", read, "The gate")->required()->type_name("");
}

std::uint64_t parse_number(const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end && number >= min && number <= max) return number;
  throw InvalidArgument("\"" + text + "\": a whole number from " + std::to_string(min) + " to " +
                        std::to_string(max) + " is needed");
}

std::size_t parse_choice(const std::string& text, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  throw InvalidArgument("\"" + text + "\": one of " + listed(words) + " is needed");
}

}  // namespace airlock::cli
