#include <algorithm>
#include <array>
#include <charconv>

#include "airlock/error.hpp"
#include "api/answers.hpp"
#include "api/api.hpp"
#include "api/fields.hpp"
#include "dashboard/assets.hpp"
#include "dashboard/events.hpp"
#include "dashboard/sampler.hpp"
#include "rights/require.hpp"

namespace airlock::server {
namespace {

// Nothing but what the server itself has, and no other page may show this one in a frame.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".txt", "text/plain; charset=utf-8"},
}};

std::string_view type_of(std::string_view name) {
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(), [name](const auto& type) {
    return name.ends_with(type.first);
  });
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

Response asset_response(std::string_view name) {
  const auto all = assets();
  if (all.empty())
    return problem(404, "this server was built without the dashboard (AIRLOCK_DASHBOARD=OFF)");
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const Asset& each) { return each.name == name; });
  if (found == all.end()) return problem(404, "the dashboard has no such file");
  Response response{.body = std::string(found->content), .content_type = type_of(name)};
  response.fields = {{"Content-Security-Policy", kPolicy},
                     {"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"}};
  return response;
}

// "a,b,c"; a name of a gate has no comma.
std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end != 0) all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::vector<std::string> gates_of(std::string_view text) {
  std::vector<std::string> gates = list_of(text);
  for (std::string& gate : gates) {
    try {
      gate = gate_named(gate).text();
    } catch (const Rejection& rejection) {
      throw Rejection{rejection.status, rejection.detail, "gates"};
    }
  }
  return gates;
}

std::uint32_t span_of(const std::string& text) {
  constexpr Duration kLeast = std::chrono::minutes(1);
  constexpr Duration kMost = std::chrono::seconds(History::kMinutes);
  if (text.empty()) return History::kSeconds;
  Duration span{0};
  try {
    span = parse_duration(text);
  } catch (const InvalidArgument& error) {
    throw Rejection{400, error.what(), "span"};
  }
  if (span < kLeast || span > kMost) throw Rejection{400, "has to be from 1m to 24h", "span"};
  const auto seconds =
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(span).count());
  return seconds - seconds % History::resolution(seconds);
}

std::vector<std::string> columns_of(std::string_view text) {
  std::vector<std::string> columns = list_of(text);
  const auto& known = History::kColumns;
  for (const std::string& column : columns) {
    if (std::find(known.begin(), known.end(), column) == known.end()) {
      throw Rejection{400, "has to be some of in_use,limit,waiting,granted,refused,waits",
                      "columns"};
    }
  }
  return columns;
}

// So that one question keeps the loop no longer than some milliseconds.
void limit_points(const History::Question& question) {
  constexpr std::size_t kMaxPoints = 20'000;
  const std::size_t steps = question.span / History::resolution(question.span);
  if (question.gates.empty())
    throw Rejection{400, "is needed: names of gates, with commas", "gates"};
  if (question.gates.size() * steps > kMaxPoints)
    throw Rejection{400, "so many gates need a shorter span; at most 20000 points at once",
                    "gates"};
}

}  // namespace

void me(Api& /*api*/, const ExchangePtr& exchange, const Places& /*places*/) {
  const std::string gate = query_value(exchange->request(), "gate");
  if (!gate.empty()) require(*exchange, Role::observe, gate_named(gate));
  OrderedJson roles = OrderedJson::array();
  for (const Role role : {Role::admit, Role::define, Role::observe, Role::operate}) {
    const bool has =
        gate.empty() ? exchange->peer().grants->allows_somewhere(role) : may(*exchange, role, gate);
    if (has) roles.push_back(role_name(role));
  }
  exchange->answer(
      json_response(200, {{"principal", exchange->peer().principal}, {"roles", roles}}));
}

void events(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  const auto query = query_values(exchange->request(), {"match", "gates"});
  GateFilter filter{.grants = exchange->peer().grants};
  if (!query[0].empty()) filter.match = query[0];
  for (std::string& gate : gates_of(query[1])) filter.gates.insert(std::move(gate));
  Viewer::start(*api.sampler, exchange, std::move(filter));
}

void history(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  const auto query = query_values(exchange->request(), {"gates", "span", "columns"});
  const History::Question question{
      .gates = gates_of(query[0]), .span = span_of(query[1]), .columns = columns_of(query[2])};
  limit_points(question);
  for (const std::string& gate : question.gates) require(*exchange, Role::observe, gate);
  if (!api.sampler->keeps_history()) {
    return exchange->answer(
        problem(404, "this server keeps no history: [dashboard] history = false"));
  }
  exchange->answer({.body = api.sampler->history(question)});
}

void page(Api& /*api*/, const ExchangePtr& exchange, const Places& /*places*/) {
  exchange->answer(asset_response("index.html"));
}

void asset(Api& /*api*/, const ExchangePtr& exchange, const Places& /*places*/) {
  constexpr std::string_view kFolder = "/assets/";
  exchange->answer(
      asset_response(std::string_view(exchange->request().path).substr(kFolder.size())));
}

}  // namespace airlock::server
