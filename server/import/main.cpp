#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "airlock/version.hpp"
#include "import/ratelimit_yaml.hpp"

namespace airlock::server::import {
namespace {

constexpr int kUsage = 64;
constexpr int kData = 65;

// Nothing is printed unless all files are good.
int run(int argc, char** argv) {
  std::vector<std::string> files;
  CLI::App app(
      "Prints the configuration of an envoyproxy/ratelimit as airlock.toml: "
      "docs/rate-limit-service.md",
      "airlock-server import");
  app.set_version_flag("--version", version());
  app.add_option("FILE", files, "YAML; one file for each domain")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  std::ostringstream out;
  for (const std::string& file : files) {
    if (out.tellp() != 0) out << "\n";
    import_yaml(file, out, std::cerr);
  }
  std::cout << out.str();
  return std::cout.flush() ? 0 : 1;
}

int guarded_run(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "airlock-server import: " << error.what() << "\n";
  return kData;
}

}  // namespace
}  // namespace airlock::server::import

int main(int argc, char** argv) { return airlock::server::import::guarded_run(argc, argv); }
