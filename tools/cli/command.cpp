#include "command.hpp"

namespace airlock::cli {

std::optional<StoreError> store_failure(const std::exception& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const StoreError& cause) {
    return cause;
  } catch (...) {  // NOLINT(bugprone-empty-catch): of another kind
  }
  return std::nullopt;
}

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
