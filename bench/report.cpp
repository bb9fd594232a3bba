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

void print_row(std::ostream& out, const Result& result, std::size_t width) {
  std::string against = std::string(kAgainst) + result.against;
  against.resize(width, ' ');
  out << result.name << '\n'
      << against
      << formatted("  %10.1f  %10.1f  %6.2f", result.value, result.reference, result.ratio)
      << (result.aim ? formatted("  <= %g", *result.aim) : "") << '\n';
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
  return "{\"name\": " + quoted(result.name + ", against " + result.against) +
         ", \"value\": " + number(result.value) + ", \"reference\": " + number(result.reference) +
         ", \"ratio\": " + number(result.ratio) +
         ", \"aim\": " + (result.aim ? number(*result.aim) : "null") + "}";
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
  out << std::string(width, ' ') << "       ns/op   reference   ratio     aim\n";
  for (const Result& result : results) print_row(out, result, width);
}

void write_json(std::ostream& out, std::span<const Result> results) { write_list(out, results); }

void write_json(std::ostream& out, std::span<const Size> sizes) { write_list(out, sizes); }

}  // namespace airlock::bench
