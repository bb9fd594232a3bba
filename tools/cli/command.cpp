#include "command.hpp"

#include <charconv>

#include "airlock/error.hpp"
#include "airlock/shm.hpp"
#include "suggest.hpp"

namespace airlock::cli {
namespace {

// What people know an option by: `--wait` of `-w,--wait,--timeout`.
std::string shown_name(const std::string& names) {
  const std::size_t dashes = names.find("--");
  const std::string name = dashes == std::string::npos ? names : names.substr(dashes);
  return name.substr(0, name.find(','));
}

std::string existing_stores(const std::string& uri) {
  std::string names;
  for (const ShmSegment& segment : list_shm_stores(uri)) {
    names += (names.empty() ? "shm:" : ", shm:") + segment.name;
  }
  return names.empty() ? "there is none in its folder" : "there are " + names;
}

}  // namespace

Store Command::open_existing() const {
  require_existing();
  return open();
}

void Command::require_existing() const {
  if (!store_uri.starts_with("shm:") || has_shm_store(store_uri)) return;
  throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::nothing_happened,
                   "store " + store_uri + " does not exist: nothing has used it yet; " +
                       existing_stores(store_uri));
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
