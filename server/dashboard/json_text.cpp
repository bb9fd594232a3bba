#include "dashboard/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace airlock::server {
namespace {

constexpr double kDecimals = 1'000;

template <typename Number>
void append_chars(std::string& out, Number number) {
  std::array<char, 32> text{};
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

}  // namespace

void append_number(std::string& out, std::uint64_t number) { append_chars(out, number); }

void append_number(std::string& out, double number) {
  append_chars(out, std::round(number * kDecimals) / kDecimals);
}

void append_text(std::string& out, std::string_view text) {
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace airlock::server
