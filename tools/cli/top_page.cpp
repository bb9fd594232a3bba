#include "top_page.hpp"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <sstream>

#include "gate_text.hpp"

namespace airlock::cli {
namespace {

constexpr std::size_t kBar = 8;
constexpr int kNameWidth = 22;
constexpr int kUseWidth = 14;

// A part of the whole that is in use: of the limit, or of the rate that is nearest to its end.
struct Part {
  double used = 0;
  double whole = 0;
};

Part part_of(const GateSummary& row) {
  const GateCounts counts = displayed(row.gate.counts);
  if (counts.limit != 0) return {1.0 * counts.in_use, 1.0 * counts.limit};
  Part nearest;
  for (const RateView& rate : row.gate.rates) {
    const Part part{1.0 * rate.info.limit - rate.info.remaining, 1.0 * rate.info.limit};
    if (nearest.whole == 0 || part.used / part.whole > nearest.used / nearest.whole) nearest = part;
  }
  return nearest;
}

double use_of(const GateSummary& row) {
  const Part part = part_of(row);
  return part.whole == 0 ? 0.0 : part.used / part.whole;
}

Screen::Colour colour_of(const GateSummary& row, const Part& part) {
  const bool is_closed = row.gate.counts.overridden && row.gate.counts.limit == 0;
  const bool is_paused = !row.gate.pauses.empty();
  if (is_closed || is_paused) return Screen::Colour::red;
  return part.whole > 0 && part.used >= part.whole ? Screen::Colour::yellow : Screen::Colour::green;
}

// A gate that has only rates is not closed, whatever its counts are.
std::string shown_use(const GateSummary& row) {
  if (!row.unreadable.empty()) return "unreadable";
  if (row.gate.counts.overridden && row.gate.counts.limit == 0) return "closed";
  const bool is_rate = row.gate.counts.limit == 0 && !row.gate.rates.empty();
  return is_rate ? "rate" : use_text(row.gate.counts);
}

const char* name_of(TopSort sort) {
  switch (sort) {
    case TopSort::use:
      return "use";
    case TopSort::waiting:
      return "waiting";
    case TopSort::refused:
      return "refused";
    case TopSort::name:
      break;
  }
  return "name";
}

// Where there is no room for both, what operators set comes before how it went.
bool is_narrow(const Screen& screen) { return screen.columns() < 110; }

std::string end_of(const GateSummary& row, const TopList& list, const Screen& screen) {
  std::string noted = row.unreadable.empty() ? notes(row.gate) : row.unreadable;
  if (is_narrow(screen) && !noted.empty()) return noted;
  return list.history.text(row.gate.name) + "  " + noted;
}

std::string line_of(const GateSummary& row, const TopList& list, const Screen& screen) {
  const Part part = part_of(row);
  const std::string name = row.gate.name.substr(0, kNameWidth - 1);
  const std::string plain(kBar, ' ');
  std::ostringstream out;
  out << (row.gate.name == list.selected ? "> " : "  ") << std::left << std::setw(kNameWidth)
      << name << std::setw(kUseWidth) << shown_use(row)
      << (part.whole > 0 ? screen.coloured(colour_of(row, part), bar(part.used, part.whole, kBar))
                         : plain)
      << std::right << std::setw(8) << row.gate.counts.waiting << std::setw(9)
      << refusals(row.gate.counters) << "  " << end_of(row, list, screen) << "\n";
  return out.str();
}

}  // namespace

void sort_rows(std::vector<GateSummary>& rows, TopSort sort) {
  std::ranges::sort(rows, {},
                    [](const GateSummary& row) -> const std::string& { return row.gate.name; });
  if (sort == TopSort::use) std::ranges::stable_sort(rows, std::greater(), use_of);
  if (sort == TopSort::waiting) {
    const auto waiting = [](const GateSummary& row) { return row.gate.counts.waiting; };
    std::ranges::stable_sort(rows, std::greater(), waiting);
  }
  if (sort == TopSort::refused) {
    const auto refused = [](const GateSummary& row) { return refusals(row.gate.counters); };
    std::ranges::stable_sort(rows, std::greater(), refused);
  }
}

void TopHistory::add(const std::vector<GateSummary>& rows) {
  ++round_;
  for (const GateSummary& row : rows) {
    const GateCounts counts = displayed(row.gate.counts);
    Course& course = courses_[row.gate.name];
    course.round = round_;
    course.in_use.add(counts.in_use);
    course.waiting.add(counts.waiting);
    course.most_in_use = std::max({course.most_in_use, counts.in_use, counts.limit});
    course.most_waiting = std::max(course.most_waiting, counts.waiting);
  }
  std::erase_if(courses_, [this](const auto& course) { return course.second.round != round_; });
}

std::string TopHistory::text(const std::string& gate) const {
  const auto found = courses_.find(gate);
  if (found == courses_.end()) return std::string(2 * kWidth + 1, ' ');
  const Course& course = found->second;
  return course.in_use.text(course.most_in_use) + " " + course.waiting.text(course.most_waiting);
}

std::string list_page(const TopList& list, const Screen& screen) {
  std::string out = screen.coloured(Screen::Colour::bold, "airlock top") + "  " +
                    counted(list.rows.size(), "gate") + " by " + name_of(list.sort) + "  " +
                    list.where + "\n";
  out += screen.coloured(Screen::Colour::dim,
                         "by: u use, w waiting, r refused, n name   arrows select, Enter opens, "
                         "q quits") +
         "\n";
  std::string heading = "  GATE                  IN USE                 WAITING  REFUSED  ";
  heading += is_narrow(screen) ? "NOTES, OR LATELY" : "IN USE, LATELY   WAITING, LATELY   NOTES";
  out += screen.coloured(Screen::Colour::dim, heading) + "\n";
  const std::size_t end = std::min(list.first + list.count, list.rows.size());
  for (std::size_t i = list.first; i < end; ++i) out += line_of(list.rows[i], list, screen);
  if (list.rows.empty()) out += "  nothing is in use\n";
  return out;
}

std::string gate_page(const TopGate& gate, const Screen& screen) {
  std::string out =
      screen.coloured(Screen::Colour::bold, "airlock top") + "  " + gate.where + "\n" +
      screen.coloured(Screen::Colour::dim, "arrows scroll, Esc all gates, q quits") + "\n";
  if (gate.is_gone) {
    out += screen.coloured(Screen::Colour::yellow,
                           "this gate is not known any more; as it was last:") +
           "\n";
  }
  std::istringstream lines(whole_text(gate.report));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    if (number >= gate.first) out += line + "\n";
  }
  return out;
}

std::size_t gate_lines(const GateReport& report) {
  const std::string text = whole_text(report);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace airlock::cli
