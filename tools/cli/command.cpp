#include "command.hpp"

namespace airlock::cli {

CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& value,
                          const std::string& help) {
  const auto read = [&value](const std::string& text) { value = parse_duration(text); };
  return app.add_option_function<std::string>(name, read, help)->type_name("DURATION");
}

CLI::Option* add_gate(CLI::App& app, std::optional<GateName>& value) {
  const auto read = [&value](const std::string& text) { value.emplace(text); };
  return app.add_option_function<std::string>("NAME", read, "The gate")->required()->type_name("");
}

}  // namespace airlock::cli
