#include "output.hpp"

#include <algorithm>
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
