#include "config/gate_rules.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "airlock/error.hpp"
#include "airlock/store.hpp"

namespace airlock::server {
namespace {

GateRule read_rule(TableReader& table) {
  GateRule rule{.match = table.needed("match", table.text("match", 200))};
  if (const auto limit = table.number("limit", 1, kMaxLimit))
    rule.limit = static_cast<std::uint32_t>(*limit);
  rule.rates = table.rates("rates");
  check_rates(table, "rates", rule.rates);
  if (!rule.limit && rule.rates.empty())
    table.fail("match", "the gate needs a limit, or rates, or both");
  const auto ttl = table.duration("ttl", std::chrono::milliseconds(20), kMaxTtl);
  if (ttl && !rule.limit) table.fail("ttl", "needs a limit");
  rule.ttl = ttl.value_or(rule.ttl);
  rule.order = table.choice("order", order_words()).value_or(rule.order);
  rule.max_waiting =
      static_cast<std::uint32_t>(table.number("max_waiting", 1, kMaxLimit).value_or(0));
  rule.wait = table.duration("wait", Duration(0), kMaxTtl).value_or(rule.wait);
  table.with("check", [&rule](TableReader& check) { rule.check.read(check); });
  if (rule.check.patience != Duration(0) && !rule.limit)
    table.fail("check", "patience is for gates with a limit");
  return rule;
}

}  // namespace

void GateRules::read(TableReader& file) {
  file.for_each("gate", [this](TableReader& table) { rules_.push_back(read_rule(table)); });
}

const GateRule* GateRules::find(std::string_view gate) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(), [gate](const GateRule& rule) {
    return glob_matches(rule.match, gate);
  });
  return found == rules_.end() ? nullptr : &*found;
}

void check_rates(TableReader& table, const char* key, const std::vector<Rate>& rates) {
  if (rates.empty()) return;
  static const Store kStore = open_store("memory:");
  try {
    (void)kStore.admit({.gate = "check",
                        .visitor = VisitorId::named("check"),
                        .rates = rates,
                        .mode = RateMode::peek});
  } catch (const InvalidArgument& error) {
    table.fail(key, error.what());
  }
}

bool glob_matches(const std::string& glob, std::string_view name) {
  return fnmatch(glob.c_str(), std::string(name).c_str(), 0) == 0;
}

const std::vector<std::pair<std::string_view, Order>>& order_words() {
  static const std::vector<std::pair<std::string_view, Order>> kWords = {
      {"fifo", Order::fifo},
      {"priority", Order::priority},
      {"lottery", Order::lottery},
      {"aging_lottery", Order::aging_lottery}};
  return kWords;
}

}  // namespace airlock::server
