#include "rls/headers.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace airlock::server::rls {
namespace {

std::string whole_seconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(duration).count());
}

bool is_described(const Part& part) {
  return (part.kind == Part::Kind::rate || part.kind == Part::Kind::blocked) && !part.is_shadow &&
         !part.gives_back;
}

bool is_tighter(const Part& part, const Part& than) {
  if (part.is_over != than.is_over) return part.is_over;
  return part.remaining < than.remaining;
}

// "100/s" and so on: what tells one limit from another, as the RateLimit fields of other calls have it.
std::string quoted_name(const Part& part) {
  std::string name = part.name;
  if (name.empty()) name = part.kind == Part::Kind::blocked ? "0" : part.rate.rate.text();
  std::string text = "\"";
  for (const char c : name) {
    if (c < ' ' || c > '~') continue;
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

Duration window_of(const Part& part) {
  return part.rate.unit == Unit::unknown ? Duration(part.rate.rate.period)
                                         : length_of(part.rate.unit);
}

void add_split(RateLimitResponse& response, const Part& part) {
  response.headers.emplace_back("RateLimit-Limit", std::to_string(part.limit()));
  response.headers.emplace_back("RateLimit-Remaining", std::to_string(part.remaining));
  if (part.until_reset != kForever)
    response.headers.emplace_back("RateLimit-Reset", whole_seconds(part.until_reset));
}

void add_draft(RateLimitResponse& response, std::span<const Part> parts, const Part& tightest) {
  std::string policy;
  for (const Part& part : parts) {
    if (!is_described(part)) continue;
    policy += (policy.empty() ? "" : ", ") + quoted_name(part) +
              ";q=" + std::to_string(part.limit()) + ";w=" + whole_seconds(window_of(part));
  }
  std::string state = quoted_name(tightest) + ";r=" + std::to_string(tightest.remaining);
  if (tightest.until_reset != kForever) state += ";t=" + whole_seconds(tightest.until_reset);
  response.headers.emplace_back("RateLimit-Policy", std::move(policy));
  response.headers.emplace_back("RateLimit", std::move(state));
}

}  // namespace

void add_headers(RateLimitResponse& response, Headers headers, std::span<const Part> parts) {
  if (headers == Headers::none) return;
  const Part* tightest = nullptr;
  for (const Part& part : parts) {
    if (is_described(part) && (tightest == nullptr || is_tighter(part, *tightest)))
      tightest = &part;
  }
  if (tightest == nullptr) return;
  headers == Headers::split ? add_split(response, *tightest)
                            : add_draft(response, parts, *tightest);
}

}  // namespace airlock::server::rls
