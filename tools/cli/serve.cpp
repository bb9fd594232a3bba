#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "command.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

constexpr const char* kServer = "airlock-server";

struct Serve {
  std::string config;
  std::vector<std::string> listen;
  std::string threads;
};

// The one that was installed with this command, if it was.
std::string path_beside() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0) return {};
  const std::string self(path.data(), static_cast<std::size_t>(size));
  return self.substr(0, self.rfind('/') + 1) + kServer;
}

int serve(const Command& command, Serve& options) {
  std::vector<std::string> words = {kServer};
  if (!options.config.empty()) words.insert(words.end(), {"--config", options.config});
  if (command.is_store_named)  // The server has the same default.
    words.insert(words.end(), {"--store", command.store_uri});
  for (const std::string& each : options.listen) words.insert(words.end(), {"--listen", each});
  if (!options.threads.empty()) words.insert(words.end(), {"--threads", options.threads});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string beside = path_beside();
  if (!beside.empty()) execv(beside.c_str(), arguments.data());
  execvp(kServer, arguments.data());
  const int error = errno;
  throw Exit{error == ENOENT ? kNotFound : kNotExecutable,
             std::string(kServer) + ": " + error_text(error) +
                 "; it has to be in the folder of this command, or in a folder of PATH"};
}

}  // namespace

void add_serve(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Serve>();
  CLI::App& added = add_subcommand(
      app, command, "serve", "Serves the gates over HTTP: starts airlock-server", options, &serve);
  added.add_option("--config", options->config, "airlock.toml, which says the rest")
      ->type_name("FILE");
  added
      .add_option("--listen", options->listen,
                  "tcp:HOST:PORT or unix:PATH, both also several times")
      ->type_name("WHERE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1);
  added.add_option("--threads", options->threads, "Event loops [one per processor]")
      ->type_name("N");
}

}  // namespace airlock::cli
