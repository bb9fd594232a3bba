#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/version.hpp"
#include "beside.hpp"
#include "operations/signals.hpp"
#include "operations/systemd.hpp"
#include "options.hpp"
#include "rights/bearer.hpp"
#include "server.hpp"

namespace airlock::server {
namespace {

constexpr int kUsage = 64;
constexpr int kUnavailable = 69;
constexpr int kSystem = 71;

std::string default_socket() {
  for (const char* const variable : {"RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"}) {
    const char* const folder =
        std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before any thread is started
    if (folder != nullptr && *folder != 0) return std::string("unix:") + folder + "/airlock.sock";
  }
  throw InvalidArgument(
      "--listen is needed where neither RUNTIME_DIRECTORY nor XDG_RUNTIME_DIR names a folder");
}

// They are waited for; a client that goes away is seen where it is written to.
void prepare_signals() {
  block_signals();
  std::signal(SIGPIPE, SIG_IGN);
}

// Many systems allow 1024 descriptors unless a process asks for more.
void raise_descriptor_limit() {
  constexpr rlim_t kWanted = 16'384;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Without what stands before the host: a password, maybe.
std::string shown_uri(std::string uri) {
  const std::size_t begin = uri.find("://");
  const std::size_t end = uri.rfind('@');
  if (begin != std::string::npos && end != std::string::npos && end > begin)
    uri.erase(begin + 3, end - begin - 2);
  return uri;
}

std::string shown_rights(const Rights& rights) {
  return rights.is_open() ? "without authentication: everybody who can connect may do everything"
                          : "rights of " + std::to_string(rights.size()) + " principals";
}

// What the command line leaves open is as the file says.
struct Arguments {
  std::string config;
  std::string store;
  std::vector<std::string> listen;
  unsigned threads = 0;
  bool checks = false;
};

Endpoint listen_option(const std::string& text) {
  try {
    return parse_endpoint(text);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(std::string("--listen ") + error.what());
  }
}

// What systemd passes is listened at in any case.
std::vector<Endpoint> endpoints_of(const Arguments& arguments, const Config& config) {
  std::vector<std::string> listen = arguments.listen.empty() ? config.listen : arguments.listen;
  std::vector<Endpoint> endpoints;
  if (!arguments.checks) endpoints = inherited_endpoints();
  const bool is_passed = !endpoints.empty();
  if (listen.empty() && !is_passed && !arguments.checks) listen.push_back(default_socket());
  for (const std::string& each : listen) {
    if (each != kInherited) {
      endpoints.push_back(listen_option(each));
      endpoints.back().mode = config.socket_mode;
    } else if (!is_passed && !arguments.checks) {
      throw InvalidArgument("--listen systemd: needs a socket unit that starts the server");
    }
  }
  for (const Endpoint& endpoint : endpoints) check_exposure(endpoint, config);
  return endpoints;
}

Options options_of(const Arguments& arguments) {
  Options options;
  options.config =
      arguments.config.empty() ? std::make_shared<Config>() : load_config(arguments.config);
  options.config_file = arguments.config;
  const Config& config = *options.config;
  options.store = !arguments.store.empty() ? arguments.store : config.store.value_or("shm:");
  options.threads = arguments.threads != 0 ? arguments.threads : config.threads.value_or(0);
  options.listen = endpoints_of(arguments, config);
  return options;
}

int print_new_token() {
  const std::string token = new_token();
  std::cout << "token, for the caller, shown this once:  " << token
            << "\nline for its [[principal]]:              tokens = [\""
            << token_hash_text(hash_of(token)) << "\"]\n";
  return 0;
}

int serve(const Options& options) {
  prepare_signals();
  raise_descriptor_limit();
  Server server(options);
  std::cout << "airlock-server: listens at " << server.listens_at() << "; store "
            << shown_uri(options.store) << "; " << shown_rights(options.config->rights)
            << std::endl;
  server.run();
  return 0;
}

// `airlock-server import` is a program of its own: a server needs no YAML.
int import_files(char** argv) {
  constexpr const char* kProgram = "airlock-server-import";
  const int error = become(kProgram, argv + 1);
  throw InvalidArgument(std::string(kProgram) + ": " + std::generic_category().message(error) +
                        "; it has to be in the folder of this program, or in a folder of PATH");
}

int run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "import") return import_files(argv);
  Arguments arguments;
  CLI::App app("Serves the gates of a store over HTTP: docs/server.md", "airlock-server");
  app.set_version_flag("--version", version());
  app.footer(
      "airlock-server import FILE... prints a configuration of envoyproxy/ratelimit as "
      "airlock.toml");
  app.add_option("--config", arguments.config, "airlock.toml: docs/server.md")->type_name("FILE");
  app.add_flag("--check", arguments.checks, "Only say whether the configuration is good");
  app.add_option("--store", arguments.store,
                 "memory:, shm:NAME or redis://HOST [$AIRLOCK_STORE, else as in FILE, else shm:]")
      ->envname("AIRLOCK_STORE")
      ->type_name("URI");
  app.add_option(
         "--listen", arguments.listen,
         "tcp:HOST:PORT, tls:HOST:PORT or unix:PATH, with grpc:, grpc+tls: or grpc+unix: for "
         "gRPC, or systemd:, also several times [as in FILE, else "
         "unix:airlock.sock in the runtime directory]")
      ->type_name("WHERE");
  app.add_option("--threads", arguments.threads, "Event loops [one per processor]")
      ->check(CLI::Range(1U, kMaxThreads))
      ->type_name("N");
  const auto* const token =
      app.add_subcommand("token", "Print a new token and the line for its [[principal]]");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (token->parsed()) return print_new_token();
  if (arguments.checks && arguments.config.empty())
    throw InvalidArgument("--check needs --config FILE");
  const Options options = options_of(arguments);
  if (!arguments.checks) return serve(options);
  std::cout << arguments.config << ": good\n";
  return 0;
}

int fail(int status, const char* what) {
  std::cerr << "airlock-server: " << what << "\n";
  return status;
}

int guarded_run(int argc, char** argv) try {
  return run(argc, argv);
} catch (const InvalidArgument& error) {
  return fail(kUsage, error.what());
} catch (const Error& error) {
  return fail(kUnavailable, error.what());
} catch (const std::exception& error) {
  return fail(kSystem, error.what());
}

}  // namespace
}  // namespace airlock::server

int main(int argc, char** argv) { return airlock::server::guarded_run(argc, argv); }
