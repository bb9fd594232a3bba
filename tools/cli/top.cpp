#include <algorithm>
#include <chrono>

#include "airlock/error.hpp"
#include "command.hpp"
#include "control.hpp"
#include "output.hpp"
#include "screen.hpp"
#include "signals.hpp"
#include "top_page.hpp"

namespace airlock::cli {
namespace {

using Time = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct TopOptions {
  Duration interval = std::chrono::seconds(1);
};

// What is on the screen and where in it somebody is. A store that fails leaves the last picture.
class Top {
 public:
  Top(Control& control, const Screen& screen) : control_(control), screen_(screen) {}

  // StoreError where the store does not answer. `is_point`: of the sparklines.
  void read(bool is_point);
  // The same while it runs: a failure is shown and is over with the next success.
  void try_read(bool is_point);
  [[nodiscard]] std::string page() const;
  // False: it is to end. What it changes is seen after the next read.
  [[nodiscard]] bool handle(Key key);

 private:
  void read_list(bool is_point);
  void move(std::ptrdiff_t by);
  [[nodiscard]] std::size_t height() const;  // Rows that fit below the heading.
  [[nodiscard]] std::size_t index_of_selected() const;

  Control& control_;
  const Screen& screen_;
  std::vector<GateSummary> rows_;
  TopHistory history_;
  TopSort sort_ = TopSort::use;
  std::string selected_;
  std::size_t first_ = 0;             // Of the list.
  std::optional<GateReport> opened_;  // One gate instead of the list.
  bool is_gone_ = false;              // That gate.
  std::size_t first_line_ = 0;        // Of that.
  std::string failure_;
  Time::time_point failing_since_;
};

std::size_t Top::height() const {
  const std::size_t taken = kListHeading + (failure_.empty() ? 0 : 1);
  return std::max(screen_.rows(), taken + 1) - taken;
}

std::size_t Top::index_of_selected() const {
  const auto name = [](const GateSummary& row) -> const std::string& { return row.gate.name; };
  const auto found = std::ranges::find(rows_, selected_, name);
  return found == rows_.end() ? 0 : static_cast<std::size_t>(found - rows_.begin());
}

void Top::read_list(bool is_point) {
  rows_ = control_.survey("*");
  if (is_point) history_.add(rows_);
  sort_rows(rows_, sort_);
  if (!rows_.empty()) selected_ = rows_[index_of_selected()].gate.name;
  move(0);
}

void Top::read(bool is_point) {
  if (opened_) {
    std::optional<GateReport> gate = control_.look(opened_->gate.name);
    is_gone_ = !gate;
    if (gate) opened_ = std::move(gate);
  } else {
    read_list(is_point);
  }
}

void Top::try_read(bool is_point) try {
  read(is_point);
  failure_.clear();
} catch (const StoreError& error) {
  // Later messages say only that it failed before.
  if (!failure_.empty()) return;
  failure_ = error.what();
  failing_since_ = Time::now();
}

std::string Top::page() const {
  std::string out;
  if (!failure_.empty()) {
    const auto since = std::chrono::round<std::chrono::seconds>(Time::now() - failing_since_);
    out = screen_.coloured(Screen::Colour::red,
                           "unavailable for " + to_text(since) + ": " + failure_) +
          "\n";
  }
  if (opened_) {
    return out + gate_page({.report = *opened_,
                            .where = control_.name(),
                            .is_gone = is_gone_,
                            .first = first_line_},
                           screen_);
  }
  return out + list_page({.rows = rows_,
                          .where = control_.name(),
                          .history = history_,
                          .sort = sort_,
                          .selected = selected_,
                          .first = first_,
                          .count = height()},
                         screen_);
}

void Top::move(std::ptrdiff_t by) {
  if (opened_) {
    const auto last = static_cast<std::ptrdiff_t>(gate_lines(*opened_)) - 1;
    const auto to = static_cast<std::ptrdiff_t>(first_line_) + by;
    first_line_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(to, 0, last));
    return;
  }
  if (rows_.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(rows_.size()) - 1;
  const auto to =
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(index_of_selected()) + by, 0, last);
  const auto index = static_cast<std::size_t>(to);
  selected_ = rows_[index].gate.name;
  if (index < first_) first_ = index;
  if (index >= first_ + height()) first_ = index + 1 - height();
}

bool Top::handle(Key key) {
  const auto page = static_cast<std::ptrdiff_t>(height());
  switch (key) {
    case Key::enter:
      if (opened_ || rows_.empty()) return true;
      if (!rows_[index_of_selected()].unreadable.empty()) return true;
      opened_ = report_on(rows_[index_of_selected()].gate);
      is_gone_ = false;
      first_line_ = 0;
      return true;
    case Key::escape:
      opened_.reset();
      return true;
    case Key::up:
      return move(-1), true;
    case Key::down:
      return move(1), true;
    case Key::page_up:
      return move(-page), true;
    case Key::page_down:
      return move(page), true;
    default:
      break;
  }
  const auto letter = static_cast<char>(key);
  if (letter == 'u' || letter == 'w' || letter == 'r' || letter == 'n')
    sort_ = static_cast<TopSort>(letter);
  return letter != 'q';
}

int top(const Command& command, TopOptions& options) {
  const Screen screen;
  if (!screen.is_terminal()) throw InvalidArgument("top: a terminal is needed; `ls` writes once");
  const std::unique_ptr<Control> control = command.control();
  Top top(*control, screen);
  top.read(false);  // Fails before the screen is taken.
  Signals signals;
  const FullScreen full;
  const auto interval = std::chrono::duration_cast<milliseconds>(options.interval);
  auto due = Time::now();
  while (true) {
    if (Time::now() >= due) {
      top.try_read(true);
      due = Time::now() + interval;
    }
    full.draw(top.page(), screen);
    const auto rest = std::chrono::duration_cast<milliseconds>(due - Time::now());
    (void)poll_readable(0, signals, std::max(rest, milliseconds(1)));
    if (signals.next_fatal() != 0) return 0;
    const Key key = FullScreen::key();
    if (key == Key::none) continue;
    if (!top.handle(key)) return 0;
    top.try_read(false);
  }
}

}  // namespace

void add_top(CLI::App& app, Command& command) {
  const auto options = std::make_shared<TopOptions>();
  add_duration(add_operator_command(app, command, "top", "Shows gates, holders and waiters, live",
                                    options, &top),
               "--interval", options->interval, "How often it reads the gates [1s]");
}

}  // namespace airlock::cli
