#include "check/check_rule.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "airlock/error.hpp"
#include "airlock/request.hpp"

namespace airlock::server {
namespace {

using Source = CheckRule::Source;

constexpr std::array<std::pair<const char*, Source>, 3> kSources = {
    {{"visitor_header", Source::header},
     {"visitor_cookie", Source::cookie},
     {"address_header", Source::address}}};
constexpr std::size_t kMaxName = 64;

// No underscore: some servers take it for a hyphen, and a client that sends both names would choose between them.
bool is_name(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

bool is_cookie_name(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_name({c}) || c == '_' || c == '.'; });
}

void read_source(TableReader& table, CheckRule& rule) {
  for (const auto& [key, source] : kSources) {
    const auto name = table.text(key, kMaxName);
    if (!name) continue;
    if (rule.source != Source::none)
      table.fail(key, "one of visitor_header, visitor_cookie and address_header is enough");
    if (source == Source::cookie ? !is_cookie_name(*name) : !is_name(*name))
      table.fail(key, "has to have letters, digits and hyphens only");
    rule.source = source;
    rule.name = *name;
  }
}

void read_trusted(TableReader& table, CheckRule& rule) {
  std::vector<std::string> trusted = table.texts("trusted");
  if (!trusted.empty() && rule.source != Source::address)
    table.fail("trusted", "needs address_header");
  if (trusted.empty()) trusted = {"unix", "127.0.0.0/8", "::1"};
  for (const std::string& each : trusted) {
    try {
      rule.trusted.add(each);
    } catch (const InvalidArgument& error) {
      table.fail("trusted", error.what());
    }
  }
}

}  // namespace

void CheckRule::read(TableReader& table) {
  read_source(table, *this);
  read_trusted(table, *this);
  // Browsers are asked to come back after a third of it, in whole seconds.
  const auto line = table.duration("patience", std::chrono::seconds(3), kMaxTtl);
  if (line && source == Source::none) table.fail("patience", "needs a visitor");
  patience = line.value_or(patience);
  const std::vector<std::pair<std::string_view, bool>> words = {{"open", true}, {"closed", false}};
  admits_on_outage = table.choice("on_outage", words).value_or(admits_on_outage);
}

}  // namespace airlock::server
