#include "output.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>

#include "checked_output.hpp"

namespace airlock::cli {
namespace {

// A number with or without a unit, and no words.
bool is_number(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
         text.find(' ') == std::string::npos;
}

void append_cell(std::string& out, const std::string& text, std::size_t width, bool last) {
  const std::string padding(width - text.size(), ' ');
  if (is_number(text)) {
    out += padding + text;
  } else {
    out += last ? text : text + padding;
  }
  out += last ? "\n" : "  ";
}

}  // namespace

void print_json(const Json& json) { write_output(json.dump(2) + "\n"); }

std::string brief(Duration duration) {
  using std::chrono::microseconds;
  if (duration == kForever) return "forever";
  constexpr std::array<std::int64_t, 5> kSteps = {86'400'000'000, 3'600'000'000, 60'000'000,
                                                  1'000'000, 1'000};
  for (const std::int64_t step : kSteps) {
    if (duration.count() >= 10 * step) return to_text(Duration(duration.count() / step * step));
  }
  return to_text(duration);
}

std::string counted(std::uint64_t count, const std::string& what, const char* plural) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : plural);
}

std::string error_text(int error) { return std::generic_category().message(error); }

std::string Table::text(std::string_view indent) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows_) {
    out += indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      append_cell(out, row[i], widths[i], i + 1 == row.size());
    }
  }
  return out;
}

}  // namespace airlock::cli
