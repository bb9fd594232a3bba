#include "airlock/duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "airlock/error.hpp"
#include "base/quote.hpp"

namespace airlock {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t size;
};

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::array<Unit, 6> kUnits = {{{"d", 86'400 * kSecond},
                                         {"h", 3'600 * kSecond},
                                         {"m", 60 * kSecond},
                                         {"s", kSecond},
                                         {"ms", 1'000},
                                         {"us", 1}}};

// Reads one text from front to back. Whole numbers throughout: no length is rounded.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Duration parse() {
    if (text_ == "forever") return kForever;
    do {
      const Number number = take_number();
      add(number, take_unit());
      if (!number.fraction.empty() && !rest_.empty()) fail("only the last part has a fraction");
    } while (!rest_.empty());
    return Duration(total_);
  }

 private:
  struct Number {
    std::string_view whole;
    std::string_view fraction;
  };

  [[noreturn]] void fail(std::string_view rule) const {
    throw InvalidArgument("duration " + base::quoted(text_) + ": " + std::string(rule));
  }

  std::string_view take_while(std::string_view characters) {
    const std::size_t size = std::min(rest_.find_first_not_of(characters), rest_.size());
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view take_digits() {
    const std::string_view digits = take_while("0123456789");
    if (digits.empty()) fail("digits and a unit are needed, such as 200ms, 5s, 1h30m");
    return digits;
  }

  Number take_number() {
    Number number{.whole = take_digits(), .fraction = {}};
    if (!rest_.starts_with('.')) return number;
    rest_.remove_prefix(1);
    number.fraction = take_digits();
    return number;
  }

  std::int64_t take_unit() {
    if (rest_.empty() && units_left_ == kUnits.begin()) return kSecond;
    const std::string_view name = take_while("abcdefghijklmnopqrstuvwxyz");
    const auto* const unit = std::find_if(units_left_, kUnits.end(),
                                          [name](const Unit& each) { return each.name == name; });
    if (unit == kUnits.end()) fail("the units are d, h, m, s, ms, us, in this order");
    units_left_ = unit + 1;
    return unit->size;
  }

  void add(const Number& number, std::int64_t unit) {
    std::int64_t whole = 0;
    const auto [end, error] =
        std::from_chars(number.whole.data(), number.whole.data() + number.whole.size(), whole);
    if (error != std::errc{} || __builtin_mul_overflow(whole, unit, &whole)) fail(kTooLarge);
    add(whole);
    for (const char digit : number.fraction) {
      const bool divisible = unit % 10 == 0;
      if (!divisible && digit != '0') fail("a microsecond is the smallest part");
      if (divisible) unit /= 10;
      add((digit - '0') * unit);
    }
  }

  void add(std::int64_t part) {
    if (__builtin_add_overflow(total_, part, &total_) || total_ == kForever.count()) {
      fail(kTooLarge);
    }
  }

  static constexpr std::string_view kTooLarge = "too large";

  std::string_view text_;
  std::string_view rest_;
  const Unit* units_left_ = kUnits.begin();
  std::int64_t total_ = 0;
};

void append_fraction(std::string& out, std::uint64_t value, std::uint64_t unit) {
  if (value == 0) return;
  out += '.';
  for (; value != 0; value %= unit) {
    unit /= 10;
    out += static_cast<char>('0' + value / unit);
  }
}

// The rest as one unit with a fraction.
void append_last(std::string& out, std::uint64_t value, std::uint64_t unit, std::string_view name) {
  out += std::to_string(value / unit);
  append_fraction(out, value % unit, unit);
  out += name;
}

void append_text(std::string& out, std::uint64_t value) {
  constexpr std::size_t kSeconds = 3;
  for (std::size_t i = 0; i < kSeconds; ++i) {
    const auto size = static_cast<std::uint64_t>(kUnits[i].size);
    if (value >= size) out += std::to_string(value / size) + std::string(kUnits[i].name);
    value %= size;
  }
  if (value == 0) return;
  if (value >= 1'000'000 || !out.empty()) return append_last(out, value, 1'000'000, "s");
  if (value >= 1'000) return append_last(out, value, 1'000, "ms");
  append_last(out, value, 1, "us");
}

}  // namespace

Duration parse_duration(std::string_view text) { return Parser(text).parse(); }

std::string to_text(Duration duration) {
  if (duration == kForever) return "forever";
  if (duration == Duration::zero()) return "0s";
  const std::int64_t count = duration.count();
  std::string out;
  append_text(
      out, count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count));
  return count < 0 ? "-" + out : out;
}

}  // namespace airlock
