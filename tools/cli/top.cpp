#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include "airlock/error.hpp"
#include "command.hpp"
#include "gate_text.hpp"
#include "screen.hpp"
#include "signals.hpp"

namespace airlock::cli {
namespace {

constexpr std::size_t kHistory = 24;
constexpr std::size_t kBar = 10;

struct Top {
  Duration interval = std::chrono::seconds(1);
};

struct Row {
  std::string name;
  GateCounts counts;
  bool paused = false;
  std::uint64_t refused = 0;
};

// What there was to see of a gate since this began.
struct History {
  Sparkline in_use{kHistory};
  Sparkline waiting{kHistory};
  std::uint32_t most_in_use = 0;
  std::uint32_t most_waiting = 0;
};

enum class Sort : char { use = 'u', waiting = 'w', name = 'n' };

std::vector<Row> read(Store& store) {
  std::vector<Row> rows;
  for (const std::string& name : store.list()) {
    const std::optional<GateView> gate = store.look(name);
    if (!gate) continue;
    std::uint64_t refused = 0;
    for (const std::uint64_t count : gate->counters.refused) refused += count;
    rows.push_back({name, gate->counts, !gate->pauses.empty(), refused});
  }
  return rows;
}

double use(const Row& row) {
  return row.counts.limit == 0 ? 0.0 : 1.0 * row.counts.in_use / row.counts.limit;
}

void order(std::vector<Row>& rows, Sort sort) {
  std::ranges::stable_sort(rows, [sort](const Row& a, const Row& b) {
    if (sort == Sort::use) return use(a) > use(b);
    if (sort == Sort::waiting) return a.counts.waiting > b.counts.waiting;
    return a.name < b.name;
  });
}

void remember(std::map<std::string, History>& histories, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    History& history = histories[row.name];
    history.in_use.add(row.counts.in_use);
    history.waiting.add(row.counts.waiting);
    history.most_in_use = std::max({history.most_in_use, row.counts.in_use, row.counts.limit});
    history.most_waiting = std::max(history.most_waiting, row.counts.waiting);
  }
}

std::string line(const Row& row, const History& history, const Screen& screen) {
  const bool full = row.counts.limit != 0 && row.counts.in_use >= row.counts.limit;
  const auto colour = row.paused ? Screen::Colour::red
                      : full     ? Screen::Colour::yellow
                                 : Screen::Colour::green;
  std::ostringstream out;
  out << std::left << std::setw(24) << row.name.substr(0, 23) << std::right << std::setw(6)
      << row.counts.in_use << " /" << std::setw(6) << row.counts.limit << " "
      << screen.coloured(colour, bar(row.counts.in_use, row.counts.limit, kBar)) << std::setw(8)
      << row.counts.waiting << std::setw(9) << row.refused << "  "
      << history.in_use.text(history.most_in_use) << " "
      << history.waiting.text(history.most_waiting) << (row.paused ? " paused" : "") << "\n";
  return out.str();
}

std::string page(const std::vector<Row>& rows, const std::map<std::string, History>& histories,
                 Sort sort, const Screen& screen) {
  std::string out = screen.coloured(Screen::Colour::bold, "airlock top") + "   " +
                    std::to_string(rows.size()) +
                    " gates   q quit, sort by u use, w waiting, n name (" +
                    std::string(1, static_cast<char>(sort)) + ")\n";
  out += screen.coloured(Screen::Colour::dim,
                         "GATE                    IN USE / LIMIT            WAITING  REFUSED  "
                         "IN USE, LATELY           WAITING, LATELY") +
         "\n";
  for (const Row& row : rows) out += line(row, histories.at(row.name), screen);
  if (rows.empty()) out += "nothing is in use\n";
  return out;
}

int top(const Command& command, Top& options) {
  const Screen screen;
  if (!screen.is_terminal()) throw InvalidArgument("top: a terminal is needed; `ls` writes once");
  const std::shared_ptr<Store> store = command.open();
  std::vector<Row> rows = read(*store);  // Fails before the screen is taken.
  std::map<std::string, History> histories;
  Sort sort = Sort::use;
  Signals signals;
  const FullScreen full;
  const auto interval = std::chrono::duration_cast<std::chrono::milliseconds>(options.interval);
  auto due = std::chrono::steady_clock::now();
  while (true) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= due) {
      rows = read(*store);
      remember(histories, rows);
      due = now + interval;
    }
    order(rows, sort);
    full.draw(page(rows, histories, sort, screen), screen);
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(due - now);
    (void)poll_readable(0, signals, std::max(rest, std::chrono::milliseconds(1)));
    if (signals.next_fatal() != 0) return 0;
    const char key = FullScreen::key();
    if (key == 'q') return 0;
    if (key == 'u' || key == 'w' || key == 'n') sort = static_cast<Sort>(key);
  }
}

}  // namespace

void add_top(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Top>();
  add_duration(add_subcommand(app, command, "top", "Shows what goes on, live", options, &top),
               "--interval", options->interval, "How often it looks [1s]");
}

}  // namespace airlock::cli
