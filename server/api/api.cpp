#include "api.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "airlock/error.hpp"
#include "api/answers.hpp"
#include "api/fields.hpp"
#include "config/config.hpp"
#include "dashboard/sampler.hpp"
#include "http/loop.hpp"
#include "operations/address_caps.hpp"
#include "rights/require.hpp"

namespace airlock::server {
namespace {

struct Route {
  std::string_view path;
  std::string_view method;
  Role role;  // At the {gate} of the path. Without one, at any gate: the handler looks closer.
  void (*handler)(Api& api, const ExchangePtr& exchange, const Places& places);
};

constexpr std::array kRoutes = {
    Route{"/v1/gates/{gate}/admit", "POST", Role::admit, admit},
    Route{"/v1/admit", "POST", Role::admit, admit_all},
    Route{"/v1/gates/{gate}/take", "POST", Role::admit, take},
    Route{"/v1/gates/{gate}/visitors/{visitor}", "DELETE", Role::admit, leave},
    Route{"/v1/renew", "POST", Role::admit, renew},
    Route{"/v1/release", "POST", Role::admit, release},
    Route{"/v1/gates", "GET", Role::observe, list_gates},
    Route{"/v1/gates/{gate}", "GET", Role::observe, show_gate},
    Route{"/v1/gates/{gate}", "DELETE", Role::operate, purge},
    Route{"/v1/gates/{gate}/limit", "PUT", Role::operate, set_limit},
    Route{"/v1/gates/{gate}/limit", "DELETE", Role::operate, clear_limit},
    Route{"/v1/gates/{gate}/pause", "PUT", Role::operate, pause},
    Route{"/v1/gates/{gate}/pause", "DELETE", Role::operate, resume},
    Route{"/v1/gates/{gate}/revoke", "POST", Role::operate, revoke},
    Route{"/check", "GET", Role::admit, check},
    Route{"/json", "POST", Role::admit, should_rate_limit},
    Route{"/v1/doctor", "GET", Role::observe, doctor},
    Route{"/v1/me", "GET", Role::observe, me},
    Route{"/v1/events", "GET", Role::observe, events},
    Route{"/v1/history", "GET", Role::observe, history},
    Route{"/", "GET", Role::none, page},
    Route{"/assets/{file}", "GET", Role::none, asset},
    Route{"/room/{gate}", "GET", Role::none, room_page},
    Route{"/room/{gate}/stream", "GET", Role::none, room_stream},
    Route{"/room/{gate}/status", "GET", Role::none, room_status},
    Route{"/room/{gate}/session", "DELETE", Role::none, end_room_session},
    Route{"/metrics", "GET", Role::observe, metrics},
    Route{"/live", "GET", Role::none, live},
    Route{"/ready", "GET", Role::none, ready},
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text, const char* field) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_digit(text[i + 2]);
    if (low < 0) throw Rejection{400, "% stands before two hexadecimal digits", field};
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

// The next part of a path, with its / before it.
std::string_view next_part(std::string_view& path) {
  const std::size_t end = path.find('/', 1);
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(part.size());
  return part;
}

bool matches(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    const std::string_view expected = next_part(pattern);
    const std::string_view part = next_part(path);
    if (expected.starts_with("/{") ? part.size() == 1 : part != expected) return false;
  }
  return pattern.empty() && path.empty();
}

Places places_of(std::string_view pattern, std::string_view path) {
  Places places;
  while (!pattern.empty()) {
    const std::string_view name = next_part(pattern);
    const std::string_view part = next_part(path).substr(1);
    if (name == "/{gate}") places.gate = decoded(part, "gate");
    if (name == "/{visitor}") places.visitor = decoded(part, "visitor");
  }
  return places;
}

// A page of another site whose name was made to lead here asks with that name.
void refuse_rebound(const Request& request, const BrowserHosts& hosts) {
  if (request.origin.empty() && !request.has_fetch_metadata) return;
  if (!hosts.allow(request.host)) {
    throw Rejection{
        421, "a browser may ask for localhost, 127.0.0.1, [::1] and the hosts of [server] only",
        "Host"};
  }
  const std::size_t scheme = request.origin.find("://");
  const std::string_view origin =
      std::string_view(request.origin).substr(scheme == std::string::npos ? 0 : scheme + 3);
  if (!request.origin.empty() && !hosts.allow(origin)) {
    throw Rejection{403, "pages of other sites may not ask", "Origin"};
  }
}

Response wrong_method(std::string_view path, std::string_view method) {
  std::string allowed;
  for (const Route& route : kRoutes) {
    if (!matches(route.path, path)) continue;
    allowed.append(allowed.empty() ? "" : ", ").append(route.method);
    if (route.method == "GET") allowed += ", HEAD";
  }
  if (allowed.empty())
    return problem(404, "there is nothing at this path; docs/server.md lists what there is");
  allowed += ", OPTIONS";
  Response response = method == "OPTIONS" ? Response{.status = 204}
                                          : problem(405, "this path has other methods: " + allowed);
  response.fields.emplace_back("Allow", allowed);
  return response;
}

void check_role(const Exchange& exchange, const Route& route, const Places& places) {
  if (route.role == Role::none) return;
  require_somewhere(exchange, route.role);
  if (route.path.find("/{gate}") != std::string_view::npos)
    require(exchange, route.role, gate_in(places));
}

std::string query_form(const std::vector<std::string_view>& known) {
  std::string form;
  for (const std::string_view name : known)
    form.append(form.empty() ? "" : "&").append(name).append("=VALUE");
  return form;
}

void dispatch(Api& api, const ExchangePtr& exchange) {
  const Request& request = exchange->request();
  count_request(*exchange);
  // Rooms are for the browsers of any site; their cookies are of one host.
  if (!request.path.starts_with("/room/")) refuse_rebound(request, exchange->loop().config().hosts);
  const auto* const route = std::find_if(kRoutes.begin(), kRoutes.end(), [&](const Route& each) {
    return each.method == request.method && matches(each.path, request.path);
  });
  if (route == kRoutes.end()) return exchange->answer(wrong_method(request.path, request.method));
  exchange->trace().route = {route->method, route->path};
  route->role == Role::none ? exchange->set_caller({}, nullptr) : authenticate(*exchange);
  exchange->trace().is_identified = true;
  if (api.shared.is_draining && request.path.starts_with("/v1/")) {
    return exchange->answer(stopping_response());
  }
  const Places places = places_of(route->path, request.path);
  check_role(*exchange, *route, places);
  route->handler(api, exchange, places);
}

}  // namespace

void handle(Api& api, const ExchangePtr& exchange) {
  try {
    dispatch(api, exchange);
  } catch (...) {
    exchange->answer(failure_response());
  }
}

GateName gate_in(const Places& places) {
  if (places.gate.find('/') != std::string::npos) {
    throw Rejection{400, "an encoded / is not accepted; group~name stands for group/name", "gate"};
  }
  std::string name = places.gate;
  if (const std::size_t tilde = name.find('~'); tilde != std::string::npos) name[tilde] = '/';
  return gate_named(name);
}

GateName gate_named(const std::string& name) {
  try {
    return GateName(name);
  } catch (const InvalidArgument& error) {
    throw Rejection{400, error.what(), "gate"};
  }
}

VisitorId visitor_of(const Peer& peer, std::string_view name) {
  if (name.empty() || name.size() > 200)
    throw Rejection{400, "has to have 1 to 200 bytes", "visitor"};
  return VisitorId::named("airlock-server/" + std::to_string(peer.principal.size()) + "/" +
                          peer.principal + "/" + std::string(name));
}

void answer_by(Api& api, const ExchangePtr& exchange, std::function<Response(const Store&)> ask) {
  const auto response = std::make_shared<Response>();
  api.steps.run(
      exchange->loop(),
      [&api, response, ask = std::move(ask)] {
        try {
          *response = ask(api.store);
        } catch (...) {
          *response = failure_response();
        }
      },
      [exchange, response] { exchange->answer(std::move(*response)); });
}

void release_soon(Api& api, Loop& loop, const Token& token) {
  api.steps.run(loop, [&api, token] {
    try {
      api.store.release(token);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): its ttl ends it
    }
  });
}

std::string query_value(const Request& request, std::string_view known) {
  return query_values(request, {known}).front();
}

std::vector<std::string> query_values(const Request& request,
                                      const std::vector<std::string_view>& known) {
  std::vector<std::optional<std::string>> found(known.size());
  std::string_view rest = request.query;
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const std::size_t equals = pair.find('=');
    const auto name = std::find(known.begin(), known.end(), pair.substr(0, equals));
    if (name == known.end() || equals == std::string_view::npos) {
      throw Rejection{400, "the query of this path is " + query_form(known) + " or nothing",
                      "query"};
    }
    const std::string field(*name);
    auto& value = found[static_cast<std::size_t>(name - known.begin())];
    if (value) throw Rejection{400, "stands twice in the query", field};
    value = decoded(pair.substr(equals + 1), field.c_str());
  }
  std::vector<std::string> values;
  values.reserve(found.size());
  for (auto& value : found) values.push_back(std::move(value).value_or(""));
  return values;
}

}  // namespace airlock::server
