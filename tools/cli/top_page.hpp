#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "airlock/look.hpp"
#include "gate_json.hpp"
#include "screen.hpp"

// What `airlock top` shows, as text.

namespace airlock::cli {

enum class TopSort : char { use = 'u', waiting = 'w', refused = 'r', name = 'n' };

// By use, waiting, refusals or name; equal ones by name.
void sort_rows(std::vector<GateSummary>& rows, TopSort sort);

// How use and waiting went since `top` began.
class TopHistory {
 public:
  void add(const std::vector<GateSummary>& rows);
  [[nodiscard]] std::string text(const std::string& gate) const;  // Two sparklines.

 private:
  struct Course {
    Sparkline in_use{kWidth};
    Sparkline waiting{kWidth};
    std::uint32_t most_in_use = 0;
    std::uint32_t most_waiting = 0;
    std::uint64_t round = 0;  // In which the gate was there last.
  };
  static constexpr std::size_t kWidth = 16;

  std::map<std::string, Course> courses_;
  std::uint64_t round_ = 0;
};

// The list of gates: rows [first, first + count), one of them selected.
struct TopList {
  const std::vector<GateSummary>& rows;
  std::string where;  // The store or the server.
  const TopHistory& history;
  TopSort sort;
  std::string selected;
  std::size_t first = 0;
  std::size_t count = 0;
};
[[nodiscard]] std::string list_page(const TopList& list, const Screen& screen);
inline constexpr std::size_t kListHeading = 3;  // Lines above the rows.

// One gate: who is inside, who waits, rates, pauses. Lines from `first` on.
struct TopGate {
  const GateReport& report;
  std::string where;
  bool is_gone = false;  // The store knows it no more: it is as it was last.
  std::size_t first = 0;
};
[[nodiscard]] std::string gate_page(const TopGate& gate, const Screen& screen);
[[nodiscard]] std::size_t gate_lines(const GateReport& report);

}  // namespace airlock::cli
