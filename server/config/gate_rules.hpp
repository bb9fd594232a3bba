#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/rate.hpp"
#include "airlock/request.hpp"
#include "check/check_rule.hpp"
#include "config/table_reader.hpp"

namespace airlock::server {

// [[gate]]: what callers get that name no limit or rates of their own.
struct GateRule {
  std::string match;  // A glob. `*` stands for any characters, also for the / behind a group.
  std::optional<std::uint32_t> limit = {};
  Duration ttl = std::chrono::seconds(30);
  std::vector<Rate> rates = {};
  Order order = Order::fifo;
  std::uint32_t max_waiting = 0;  // 0: no bound.
  Duration wait{0};               // For callers that say nothing.
  CheckRule check = {};
};

// The first rule that matches a gate counts.
class GateRules {
 public:
  // Reads all [[gate]] of the file.
  void read(TableReader& file);
  [[nodiscard]] const GateRule* find(std::string_view gate) const;

 private:
  std::vector<GateRule> rules_;
};

// Whether the glob stands for the name.
[[nodiscard]] bool glob_matches(const std::string& glob, std::string_view name);

// Fails at the key unless a store would take the rates together.
void check_rates(TableReader& table, const char* key, const std::vector<Rate>& rates);

// The words that name an order, in bodies and in the configuration.
[[nodiscard]] const std::vector<std::pair<std::string_view, Order>>& order_words();

}  // namespace airlock::server
