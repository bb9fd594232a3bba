#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace airlock::bench {
namespace {

constexpr std::string_view kAgainst = "    against ";

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 128> text{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): std::format is not in g++ 12
  const int size = std::snprintf(text.data(), text.size(), format, values...);
  return {text.data(), std::min(static_cast<std::size_t>(size), text.size() - 1)};
}

std::string verdict(const Result& result) {
  if (!result.aim) return "       -";
  return formatted("%8s  ", formatted("<= %g", *result.aim).c_str()) +
         (*result.holds() ? "holds" : "MISSED");
}

void print_row(std::ostream& out, const Result& result, std::size_t width) {
  std::string against = std::string(kAgainst) + result.against;
  against.resize(width, ' ');
  out << result.name << '\n'
      << against
      << formatted("  %10.1f  %10.1f  %6.2f  %6.2f", result.value, result.reference, result.ratio,
                   result.spread)
      << verdict(result) << '\n';
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += formatted("\\u%04x", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string json(const Result& result) {
  const auto number = [](double value) { return formatted("%.6g", value); };
  const std::optional<bool> holds = result.holds();
  return "{\"name\": " + quoted(result.name + ", against " + result.against) +
         ", \"value\": " + number(result.value) + ", \"reference\": " + number(result.reference) +
         ", \"ratio\": " + number(result.ratio) + ", \"spread\": " + number(result.spread) +
         ", \"aim\": " + (result.aim ? number(*result.aim) : "null") +
         ", \"holds\": " + (holds ? (*holds ? "true" : "false") : "null") + "}";
}

std::string json(const Size& size) {
  return "{\"store\": " + quoted(size.store) + ", \"thing\": " + quoted(size.thing) +
         ", \"bytes\": " + formatted("%.1f", size.bytes) + "}";
}

template <typename T>
void write_list(std::ostream& out, std::span<const T> items) {
  out << "[";
  const char* separator = "\n  ";
  for (const T& item : items) {
    out << separator << json(item);
    separator = ",\n  ";
  }
  out << "\n]\n";
}

}  // namespace

void print_table(std::ostream& out, std::span<const Result> results) {
  std::size_t width = 0;
  for (const Result& result : results) {
    width = std::max(width, kAgainst.size() + result.against.size());
  }
  out << std::string(width, ' ') << "       ns/op   reference   ratio  spread     aim\n";
  for (const Result& result : results) print_row(out, result, width);

  const auto missed = [](const Result& result) { return result.holds() == false; };
  const auto with_aim = std::ranges::count_if(results, [](const Result& r) { return !!r.aim; });
  const auto misses = std::ranges::count_if(results, missed);
  out << '\n' << with_aim - misses << " of " << with_aim << " aims hold\n";
  for (const Result& result : results) {
    if (!missed(result)) continue;
    out << "MISSED: " << result.name << ": "
        << formatted("%.3f, the aim is at most %g\n", result.ratio, *result.aim);
  }
}

void write_json(std::ostream& out, std::span<const Result> results) { write_list(out, results); }

void write_json(std::ostream& out, std::span<const Size> sizes) { write_list(out, sizes); }

}  // namespace airlock::bench
