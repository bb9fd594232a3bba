#include "rls/part.hpp"

#include <algorithm>
#include <limits>

namespace airlock::server::rls {
namespace {

constexpr std::size_t kMaxSegment = 64;
constexpr std::size_t kMaxPrefix = 134;  // What gate_name() takes.

bool is_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

// Whether the text may stand between two colons of a name.
bool is_segment(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kMaxSegment && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), is_name_byte);
}

void append_sized(std::string& out, std::string_view text) {
  out.append(std::to_string(text.size())).append(1, ':').append(text);
}

GateName digest_gate(std::string_view domain, bool is_atomic, std::span<const Entry> entries) {
  std::string bytes;
  append_sized(bytes, domain);
  for (const Entry& entry : entries) {
    append_sized(bytes, entry.key);
    append_sized(bytes, entry.value);
  }
  // No segment begins with a -.
  return gate_name(is_atomic ? gate_name("rls", domain).text() + "/-all" : "rls:-all", bytes);
}

std::uint32_t hits_of(const RateLimitRequest& request, const Descriptor& descriptor) {
  const std::uint64_t hits =
      descriptor.hits_addend.value_or(std::max<std::uint32_t>(1, request.hits_addend));
  return static_cast<std::uint32_t>(hits);
}

void take_limit(Part& part, const LimitOverride& limit) {
  part.rate.unit = limit.unit;
  part.rate.requests = std::min(limit.requests_per_unit, kMaxLimit);
  part.kind = part.rate.requests == 0 ? Part::Kind::blocked : Part::Kind::rate;
  if (part.rate.requests != 0)
    part.rate.rate = *make_rate(part.rate.requests, length_of(limit.unit), Rate::Algorithm::gcra);
}

void take_rule(Part& part, const Rule& rule) {
  part.name = rule.name;
  part.is_shadow = rule.is_shadow;
  part.path = rule.path;
  if (rule.rate) {
    part.rate = *rule.rate;
    part.kind = rule.rate->requests == 0 ? Part::Kind::blocked : Part::Kind::rate;
  } else if (rule.concurrency) {
    part.concurrency = *rule.concurrency;
    part.kind = Part::Kind::concurrency;
  } else {
    part.kind = Part::Kind::unlimited;
  }
}

// As envoyproxy/ratelimit names it: domain.key_value.key_value. Values only of limits that ask for them: they are many.
std::string path_of(std::string_view domain, std::span<const Entry> entries, bool has_values) {
  std::string path(domain);
  for (const Entry& entry : entries) {
    path.append(".").append(entry.key);
    if (has_values) path.append("_").append(entry.value);
  }
  return path;
}

std::vector<Entry> without_visitor(const std::vector<Entry>& entries, std::string& visitor) {
  std::vector<Entry> others;
  others.reserve(entries.size());
  for (const Entry& entry : entries) {
    if (entry.key == kVisitorKey) {
      visitor = entry.value;
    } else {
      others.push_back(entry);
    }
  }
  return others;
}

VisitorId visitor_named(const GateName& gate, const std::string& name) {
  std::string bytes = "airlock-rls/";
  append_sized(bytes, gate.group());
  append_sized(bytes, name);
  return VisitorId::named(bytes);
}

Part make_part(const RateLimitRequest& request, const Descriptor& descriptor, const Domain& domain,
               const Match& match, const std::string& visitor) {
  Part part{.hits = hits_of(request, descriptor), .gives_back = descriptor.is_negative_hits};
  if (descriptor.limit) {
    take_limit(part, *descriptor.limit);
    part.path = path_of(request.domain, match.entries, false);
    part.has_own_path = true;
  } else if (match.rule != nullptr) {
    take_rule(part, *match.rule);
    part.is_shadow = part.is_shadow || domain.is_shadow;
    part.has_own_path = match.rule->is_detailed;
    if (part.has_own_path) part.path = path_of(request.domain, match.entries, true);
  }
  if (!part.asks_store()) return part;
  part.gate = gate_of(request.domain, domain.is_atomic, match.entries);
  if (part.kind == Part::Kind::concurrency && !visitor.empty())
    part.visitor = visitor_named(*part.gate, visitor);
  return part;
}

// A descriptor whose limit has a name gives way to one that replaces that name.
void drop_replaced(std::vector<Part>& parts, const std::vector<const Rule*>& rules) {
  const auto is_replaced = [&](const Part& part) {
    return !part.name.empty() && std::any_of(rules.begin(), rules.end(), [&](const Rule* rule) {
      return rule != nullptr && std::find(rule->replaces.begin(), rule->replaces.end(),
                                          part.name) != rule->replaces.end();
    });
  };
  for (Part& part : parts) {
    if (is_replaced(part)) part = Part();
  }
}

std::string limit_name(const Part& part) {
  if (!part.name.empty()) return part.name;
  if (part.kind == Part::Kind::concurrency) return "concurrency";
  return part.rate.unit == Unit::unknown ? part.rate.rate.text() : "";
}

}  // namespace

std::uint32_t Part::limit() const noexcept {
  return kind == Kind::concurrency ? concurrency.limit : rate.requests;
}

DescriptorStatus Part::status() const {
  if (kind == Kind::unmatched) return {};
  if (kind == Kind::unlimited)
    return {.limit_remaining = std::numeric_limits<std::uint32_t>::max()};
  DescriptorStatus status{.code = is_over && !is_shadow ? Code::over_limit : Code::ok,
                          .current_limit = CurrentLimit{limit_name(*this), limit(), rate.unit},
                          .limit_remaining = remaining};
  if (until_reset != kForever)
    status.until_reset = std::chrono::ceil<std::chrono::seconds>(until_reset);
  return status;
}

std::vector<Part> make_parts(const Domain& domain, const RateLimitRequest& request) {
  std::vector<Part> parts;
  std::vector<const Rule*> rules;
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) {
    const Descriptor& descriptor = request.descriptors[i];
    std::string visitor;
    const std::vector<Entry> entries = without_visitor(descriptor.entries, visitor);
    Match match{.rule = nullptr, .entries = entries};
    if (!descriptor.limit) match = domain.descriptors.find(entries).value_or(match);
    rules.push_back(match.rule);
    parts.push_back(make_part(request, descriptor, domain, match, visitor));
    if (parts.back().kind == Part::Kind::concurrency && visitor.empty()) {
      throw InvalidRequest{"descriptors[" + std::to_string(i) + "].entries",
                           "a concurrency limit needs an entry " + std::string(kVisitorKey) +
                               " that names who takes the place"};
    }
  }
  drop_replaced(parts, rules);
  return parts;
}

GateName gate_of(std::string_view domain, bool is_atomic, std::span<const Entry> entries) {
  std::string prefix = "rls:";
  prefix.append(domain);
  bool is_readable = is_segment(domain) && !entries.empty();
  for (std::size_t i = 0; i < entries.size() && is_readable; ++i) {
    const bool is_last = i + 1 == entries.size();
    is_readable = is_segment(entries[i].key) && (is_last || is_segment(entries[i].value));
    prefix.append(1, i == 0 && is_atomic ? '/' : ':').append(entries[i].key);
    if (!is_last) prefix.append(1, ':').append(entries[i].value);
  }
  if (!is_readable || prefix.size() > kMaxPrefix) return digest_gate(domain, is_atomic, entries);
  return gate_name(prefix, entries.back().value);
}

}  // namespace airlock::server::rls
