#include "rls/descriptors.hpp"

#include <algorithm>

#include "airlock/error.hpp"
#include "airlock/request.hpp"

namespace airlock::server::rls {
namespace {

using Algorithm = Rate::Algorithm;

constexpr int kMaxDepth = static_cast<int>(kMaxEntries);
constexpr std::int64_t kMaxProduct = std::int64_t{1} << 52;  // Of burst and period: rate.hpp.
constexpr std::int64_t kFinePeriod = 1'000'000;              // Rounding it up to 1 us is little.

const std::vector<std::pair<std::string_view, Unit>> kUnits = {
    {"second", Unit::second}, {"minute", Unit::minute}, {"hour", Unit::hour}, {"day", Unit::day},
    {"week", Unit::week},     {"month", Unit::month},   {"year", Unit::year}};

const std::vector<std::pair<std::string_view, Algorithm>> kAlgorithms = {
    {"gcra", Algorithm::gcra},
    {"sliding_window", Algorithm::sliding_window},
    {"fixed_window", Algorithm::fixed_window}};

const std::vector<std::pair<std::string_view, Headers>> kHeaders = {
    {"none", Headers::none}, {"split", Headers::split}, {"draft", Headers::draft}};

RateRule read_rate(TableReader& table) {
  RateRule rule;
  const auto unit = table.choice("unit", kUnits);
  const auto period = table.duration("period", Duration(1), kMaxTtl);
  if (unit.has_value() == period.has_value())
    table.fail("unit", "either unit or period is needed, and not both");
  rule.unit = unit.value_or(Unit::unknown);
  rule.requests = static_cast<std::uint32_t>(
      table.needed("requests_per_unit", table.number("requests_per_unit", 0, kMaxLimit)));
  const auto algorithm = table.choice("algorithm", kAlgorithms).value_or(Algorithm::gcra);
  if (rule.requests == 0) return rule;
  const auto rate = make_rate(rule.requests, period.value_or(length_of(rule.unit)), algorithm);
  if (!rate) table.fail("requests_per_unit", "is too many for a window; take gcra");
  rule.rate = *rate;
  return rule;
}

void read_rate_limit(TableReader& table, Rule& rule) {
  rule.name = table.text("name").value_or("");
  rule.replaces = table.texts("replaces");
  if (!rule.name.empty() &&
      std::find(rule.replaces.begin(), rule.replaces.end(), rule.name) != rule.replaces.end())
    table.fail("replaces", "has the name of the limit itself");
  if (!table.flag("unlimited").value_or(false)) {
    rule.rate = read_rate(table);
    return;
  }
  for (const char* const key : {"unit", "period", "requests_per_unit", "algorithm"}) {
    if (table.has(key)) table.fail(key, "is of no use where unlimited is true");
  }
}

void read_concurrency(TableReader& table, Rule& rule) {
  rule.name = table.text("name").value_or("");
  rule.concurrency = ConcurrencyRule{
      .limit =
          static_cast<std::uint32_t>(table.needed("limit", table.number("limit", 1, kMaxLimit))),
      .ttl = table.duration("ttl", std::chrono::milliseconds(20), kMaxTtl)
                 .value_or(std::chrono::seconds(30))};
}

bool is_wildcard(const std::string& value) { return value.find('*') != std::string::npos; }

std::optional<Rule> read_rule(TableReader& table) {
  std::optional<Rule> rule;
  table.with("rate_limit", [&](TableReader& limit) { read_rate_limit(limit, rule.emplace()); });
  if (rule && table.has("concurrency"))
    table.fail("concurrency", "a descriptor has either rate_limit or concurrency");
  table.with("concurrency", [&](TableReader& limit) { read_concurrency(limit, rule.emplace()); });
  const auto is_shadow = table.flag("shadow_mode");
  const auto is_detailed = table.flag("detailed_metric");
  if (!rule) {
    for (const char* const key : {"shadow_mode", "detailed_metric"}) {
      if (table.has(key)) table.fail(key, "needs a rate_limit or a concurrency beside it");
    }
    return rule;
  }
  rule->is_shadow = is_shadow.value_or(false);
  rule->is_detailed = is_detailed.value_or(false);
  return rule;
}

}  // namespace

struct Level::Node {
  std::optional<std::string> value = {};  // Nothing: any.
  bool is_shared = false;                 // Values that the wildcard matches are counted as one.
  std::optional<Rule> rule = {};
  Level below = {};
};

struct Level::Choices {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> exact = {};
  std::vector<std::unique_ptr<Node>> wildcards = {};
  std::unique_ptr<Node> any = {};

  [[nodiscard]] bool has(const std::optional<std::string>& value) const {
    const auto is_same = [&](const auto& node) { return node->value == value; };
    return value
               ? exact.contains(*value) || std::any_of(wildcards.begin(), wildcards.end(), is_same)
               : any != nullptr;
  }
  void add(std::unique_ptr<Node> node) {
    if (!node->value) {
      any = std::move(node);
    } else if (is_wildcard(*node->value)) {
      wildcards.push_back(std::move(node));
    } else {
      exact.emplace(*node->value, std::move(node));
    }
  }
};

Level::Level() = default;
Level::Level(Level&&) noexcept = default;
Level& Level::operator=(Level&&) noexcept = default;
Level::~Level() = default;

void Level::add(TableReader& table, const std::string& path, int depth) {
  if (depth > kMaxDepth)
    table.fail("key", "is nested deeper than " + std::to_string(kMaxDepth) + " descriptors");
  const std::string key = table.needed("key", table.text("key", kMaxText));
  auto node = std::make_unique<Node>();
  node->value = table.text("value", kMaxText);
  const auto shared = table.flag("share_threshold");
  if (shared && !(node->value && is_wildcard(*node->value)))
    table.fail("share_threshold", "needs a value with a *");
  node->is_shared = shared.value_or(false);
  auto& choices = choices_[key];
  if (choices == nullptr) choices = std::make_unique<Choices>();
  if (choices->has(node->value))
    table.fail("key", "a descriptor with this key and value is there already");
  const std::string full = path + "." + key + (node->value ? "_" + *node->value : "");
  node->rule = read_rule(table);
  if (node->rule) node->rule->path = full;
  table.for_each("descriptors",
                 [&](TableReader& nested) { node->below.add(nested, full, depth + 1); });
  choices->add(std::move(node));
}

const Level::Node* Level::choose(const Entry& entry) const {
  const auto found = choices_.find(entry.key);
  if (found == choices_.end()) return nullptr;
  const Choices& choices = *found->second;
  const auto exact = choices.exact.find(entry.value);
  if (exact != choices.exact.end()) return exact->second.get();
  for (const auto& node : choices.wildcards) {
    if (wildcard_matches(*node->value, entry.value)) return node.get();
  }
  return choices.any.get();
}

std::optional<Match> Level::find(std::span<const Entry> entries) const {
  Match match;
  const Level* level = this;
  const Node* node = nullptr;
  for (const Entry& entry : entries) {
    node = level->choose(entry);
    if (node == nullptr) return std::nullopt;
    match.entries.push_back({entry.key, node->is_shared ? *node->value : entry.value});
    level = &node->below;
  }
  if (node == nullptr || !node->rule) return std::nullopt;
  match.rule = &*node->rule;
  return match;
}

void Descriptors::read(TableReader& file) {
  file.for_each("domain", [this](TableReader& table) {
    const std::string name = table.needed("name", table.text("name", kMaxText));
    const auto [at, is_new] = domains_.try_emplace(name);
    if (!is_new) table.fail("name", "this domain is there already");
    at->second.is_atomic = table.flag("atomic").value_or(false);
    at->second.is_shadow = table.flag("shadow_mode").value_or(false);
    at->second.headers = table.choice("headers", kHeaders).value_or(Headers::none);
  });
  file.for_each("descriptors", [this](TableReader& table) {
    const std::string domain = table.needed("domain", table.text("domain", kMaxText));
    domains_[domain].descriptors.add(table, domain, 1);
  });
}

const Domain* Descriptors::find(std::string_view domain) const {
  const auto found = domains_.find(domain);
  return found == domains_.end() ? nullptr : &found->second;
}

std::optional<Rate> make_rate(std::uint32_t requests, Duration period, Algorithm algorithm) {
  Rate rate{.count = requests, .period = period, .algorithm = algorithm};
  const auto count = static_cast<std::int64_t>(requests);
  if (period.count() <= kMaxProduct / count) return rate;
  if (algorithm != Algorithm::gcra) return std::nullopt;
  // The same pace, said with a shorter period: `part` hits of `count`.
  const std::int64_t part = std::max<std::int64_t>(1, kFinePeriod * count / period.count() + 1);
  rate.count = static_cast<std::uint32_t>(part);
  rate.period = Duration((period.count() / count) * part +
                         (period.count() % count * part + count - 1) / count);
  rate.burst = requests;
  return rate;
}

Duration length_of(Unit unit) noexcept {
  using std::chrono::hours;
  switch (unit) {
    case Unit::second:
      return std::chrono::seconds(1);
    case Unit::minute:
      return std::chrono::minutes(1);
    case Unit::hour:
      return hours(1);
    case Unit::day:
      return hours(24);
    case Unit::week:
      return hours(24 * 7);
    case Unit::month:
      return hours(24 * 30);
    case Unit::year:
      return hours(24 * 365);
    case Unit::unknown:
      break;
  }
  return Duration(0);
}

// Where a * has taken too little, it is given one byte more.
bool wildcard_matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t at = 0;
  std::size_t next = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (at < text.size()) {
    if (next < pattern.size() && pattern[next] == '*') {
      star = next++;
      taken = at;
    } else if (next < pattern.size() && pattern[next] == text[at]) {
      ++next;
      ++at;
    } else if (star != std::string_view::npos) {
      next = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', next) == std::string_view::npos;
}

}  // namespace airlock::server::rls
