#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gate_json.hpp"
#include "words.hpp"

// How things are written, for people and for programs.

namespace airlock::cli {

// To standard output, indented, as write_output() does it.
void print_json(const Json& json);

// What the system says of an errno.
[[nodiscard]] std::string error_text(int error);

// Text in columns as wide as they need to be; the first row is the heading. Numbers stand right.
class Table {
 public:
  using Row = std::vector<std::string>;

  explicit Table(Row heading) : rows_{std::move(heading)} {}
  void add(Row row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const noexcept { return rows_.size() == 1; }
  [[nodiscard]] std::string text(std::string_view indent = "") const;

 private:
  std::vector<Row> rows_;
};

}  // namespace airlock::cli
