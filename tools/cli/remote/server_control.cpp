#include "server_control.hpp"

#include <algorithm>
#include <cctype>
#include <ostream>

#include "airlock/error.hpp"
#include "gate_reader.hpp"
#include "http_client.hpp"

namespace airlock::cli {
namespace {

using Kind = StoreError::Kind;
using Outcome = StoreError::Outcome;

// Statuses of HTTP that mean something to the command.
constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;
constexpr int kNotFoundThere = 404;
constexpr int kTooManyRequests = 429;
constexpr int kServerError = 500;

std::string encoded(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    if (std::isalnum(value) != 0 || std::string_view("-._~").find(byte) != std::string_view::npos) {
      out += byte;
    } else {
      out += {'%', kDigits[value / 16], kDigits[value % 16]};
    }
  }
  return out;
}

std::string path_of(const GateName& gate, const char* what = "") {
  std::string name = gate.text();
  std::ranges::replace(name, '/', '~');
  return "/v1/gates/" + name + what;
}

// What an application/problem+json says.
struct Problem {
  std::string detail;
  std::string field;
};

Problem problem_of(const HttpAnswer& answer) {
  Problem problem{.detail = "it answers with status " + std::to_string(answer.status)};
  const Json json = Json::parse(answer.body, nullptr, false);
  if (!json.is_object()) return problem;
  const auto text = [&](const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? harmless(found->get<std::string>()) : "";
  };
  if (const std::string detail = text("detail"); !detail.empty()) problem.detail = detail;
  problem.field = text("field");
  return problem;
}

class ServerControl final : public Control {
 public:
  explicit ServerControl(HttpClient client) : client_(std::move(client)) {}

  std::string name() const override { return client_.url.text; }

  std::vector<GateSummary> survey(const std::string& match) override {
    return read(get("/v1/gates?match=" + encoded(match)), read_summaries);
  }
  std::optional<GateReport> look(const GateName& gate) override {
    const auto answer = ask("GET", path_of(gate));
    if (!answer) return std::nullopt;
    return read(answer->body, read_report);
  }
  std::vector<std::string> list() override {
    std::vector<std::string> names;
    for (const GateSummary& summary : survey("*")) names.push_back(summary.gate.name);
    return names;
  }
  void write_metrics(std::ostream& out, const std::string& match) override {
    out << get("/metrics?match=" + encoded(match));
  }
  Examination examine() override try {
    return read(get("/v1/doctor"), read_examination);
  } catch (const StoreError& error) {
    return {.findings = {finding_of(error)}, .is_available = false};
  }

  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    const std::string path = path_of(gate, "/limit");
    require(limit ? ask("PUT", path, Json{{"limit", *limit}}) : ask("DELETE", path));
  }
  void pause(const GateName& gate, Duration duration) override {
    require(ask("PUT", path_of(gate, "/pause"), Json{{"for", to_text(duration)}}));
  }
  bool resume(const GateName& gate) override {
    return ask("DELETE", path_of(gate, "/pause")).has_value();
  }
  std::optional<std::size_t> revoke(const GateName& gate, const std::optional<std::string>& visitor,
                                    Revoke how) override {
    Json body = {{"now", how == Revoke::now}};
    if (visitor) body["visitor"] = *visitor;
    const auto answer = ask("POST", path_of(gate, "/revoke"), body);
    if (!answer) return std::nullopt;
    return read(answer->body, read_revoked);
  }
  bool purge(const GateName& gate) override { return ask("DELETE", path_of(gate)).has_value(); }

 private:
  // Nothing: the server does not know what was asked for. The path itself is one that it has.
  std::optional<HttpAnswer> ask(const char* method, const std::string& target,
                                const std::optional<Json>& body = {}) const {
    HttpAnswer answer = client_.ask(method, target, body ? body->dump() : "");
    if (answer.status >= 200 && answer.status < 300) return answer;
    const Problem problem = problem_of(answer);
    if (answer.status == kNotFoundThere && !problem.field.empty()) return std::nullopt;
    fail(answer.status, problem, std::string(method) == "GET");
  }

  std::string get(const std::string& target) const {
    std::optional<HttpAnswer> answer = ask("GET", target);
    require(answer);
    return std::move(answer->body);
  }

  void require(const std::optional<HttpAnswer>& answer) const {
    if (!answer) fail(kNotFoundThere, problem_of({.status = kNotFoundThere}), true);
  }

  [[noreturn]] void fail(int status, const Problem& problem, bool is_reading) const {
    std::string text = "server " + client_.url.text + ": " +
                       (problem.field.empty() ? "" : problem.field + ": ") + problem.detail;
    if (status == kBadRequest) throw InvalidArgument(text);
    if (status == kUnauthorized && client_.token.empty())
      text += "; --token-file or AIRLOCK_SERVER_TOKEN gives a token";
    const bool is_down = status >= kServerError || status == kTooManyRequests;
    throw StoreError(is_down ? Kind::unavailable : Kind::incompatible,
                     is_down && !is_reading ? Outcome::unknown : Outcome::nothing_happened, text);
  }

  // What does not fit to this version has the server in its message, too.
  template <typename Value>
  Value read(const std::string& body, Value (*reader)(const Json& json)) const try {
    return reader(parse_json(body));
  } catch (const StoreError& error) {
    throw StoreError(error.kind(), error.outcome(),
                     "server " + client_.url.text + ": " + error.what());
  }

  const HttpClient client_;
};

}  // namespace

std::unique_ptr<Control> server_control(const ServerOptions& options) {
  HttpClient client{.url = ServerUrl::parse(options.url), .ca = options.ca, .token = options.token};
  if (!options.ca.empty() && !client.url.tls) throw InvalidArgument("--ca: is for https:// only");
  if (!options.token.empty() && !client.url.tls && !client.url.is_local()) {
    throw InvalidArgument(
        "--server: a token is not sent over a network as plain text; use https://");
  }
  return std::make_unique<ServerControl>(std::move(client));
}

}  // namespace airlock::cli
