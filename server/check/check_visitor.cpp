#include "check/check_visitor.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include "airlock/token.hpp"
#include "api/fields.hpp"
#include "check/networks.hpp"

namespace airlock::server {
namespace {

constexpr std::size_t kMaxShort = 128;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> cookies(const Request& request, std::string_view name) {
  std::vector<std::string_view> found;
  for (std::string_view rest : request.values("Cookie")) {
    while (!rest.empty()) {
      const std::size_t end = rest.find(';');
      const std::string_view pair = trimmed(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      const std::size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == name)
        found.push_back(pair.substr(equals + 1));
    }
  }
  return found;
}

std::string_view only_one(const std::vector<std::string_view>& values, const std::string& field) {
  if (values.size() > 1) throw Rejection{400, "stands twice in the request", field};
  if (values.empty() || values.front().empty())
    throw Rejection{400, "is needed: it names the visitor", field};
  return values.front();
}

CheckVisitor visitor_at(const CheckRule& rule, const Exchange& exchange) {
  if (!rule.trusted.has(exchange.peer()))
    throw Rejection{403, "comes from a peer that is not trusted to send it", rule.name};
  const auto client = client_of(only_one(exchange.request().values(rule.name), rule.name));
  if (!client) throw Rejection{400, "has to be one address of IPv4 or IPv6", rule.name};
  return {*client, *client};
}

// Sessions may be long; what is short stays as it is.
CheckVisitor visitor_named(std::string_view value, const Exchange& exchange) {
  return {
      value.size() <= kMaxShort ? std::string(value) : "digest/" + VisitorId::named(value).text(),
      exchange.peer().label};
}

}  // namespace

CheckVisitor check_visitor(const CheckRule& rule, const Exchange& exchange) {
  const Request& request = exchange.request();
  switch (rule.source) {
    case CheckRule::Source::header:
      return visitor_named(only_one(request.values(rule.name), rule.name), exchange);
    case CheckRule::Source::cookie:
      return visitor_named(only_one(cookies(request, rule.name), "Cookie"), exchange);
    case CheckRule::Source::address:
      return visitor_at(rule, exchange);
    case CheckRule::Source::none:
      break;
  }
  return {.label = exchange.peer().label};
}

}  // namespace airlock::server
