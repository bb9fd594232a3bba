#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/version.hpp"
#include "options.hpp"
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
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

// Without what stands before the host: a password, maybe.
std::string shown_uri(std::string uri) {
  const std::size_t begin = uri.find("://");
  const std::size_t end = uri.rfind('@');
  if (begin != std::string::npos && end != std::string::npos && end > begin)
    uri.erase(begin + 3, end - begin - 2);
  return uri;
}

int serve(const Options& options) {
  prepare_signals();
  Server server(options);
  std::cout << "airlock-server: listens at " << server.listens_at() << "; store "
            << shown_uri(options.store)
            << "; without authentication: everybody who can connect may do everything" << std::endl;
  server.run();
  return 0;
}

int run(int argc, char** argv) {
  Options options;
  std::vector<std::string> listen;
  CLI::App app("Serves the gates of a store over HTTP: docs/server.md", "airlock-server");
  app.set_version_flag("--version", version());
  app.add_option("--store", options.store,
                 "memory:, shm:NAME or redis://HOST [$AIRLOCK_STORE, else shm:]")
      ->envname("AIRLOCK_STORE")
      ->type_name("URI");
  app.add_option("--listen", listen,
                 "tcp:HOST:PORT or unix:PATH, both also several times [unix:airlock.sock in the "
                 "runtime directory]")
      ->type_name("WHERE");
  app.add_option("--threads", options.threads, "Event loops [one per processor]")
      ->check(CLI::Range(1U, 256U))
      ->type_name("N");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (listen.empty()) listen.push_back(default_socket());
  for (const std::string& each : listen) options.listen.push_back(parse_endpoint(each));
  return serve(options);
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
