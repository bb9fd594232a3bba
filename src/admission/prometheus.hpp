#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>

#include "airlock/duration.hpp"

namespace airlock::prometheus {

// A label's value as it stands between the quotes.
[[nodiscard]] std::string escaped(std::string_view value);

// Exact, without an exponent and without superfluous digits: 0.005, 1, 12.000001.
[[nodiscard]] std::string seconds(Duration duration);

// Metrics in the text format, one family after another.
//
//   text.family("airlock_in_use", "gauge", "The weight of those inside.");
//   text.sample("airlock_in_use", {{"gate", "erp"}}, "7");
class Text {
 public:
  struct Label {
    std::string_view name;
    std::string_view value;
  };

  Text() = default;
  // Goes to `out` in blocks, so that it is never there as a whole; the last one with flush().
  explicit Text(std::ostream& out) : out_(&out) {}

  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::string_view name, std::initializer_list<Label> labels, std::string_view value);

  void flush();
  [[nodiscard]] const std::string& str() const noexcept { return text_; }

 private:
  std::ostream* out_ = nullptr;
  std::string text_;
};

}  // namespace airlock::prometheus
