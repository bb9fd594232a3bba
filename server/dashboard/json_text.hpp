#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// JSON that is written often enough for a tree of it to cost too much.

namespace airlock::server {

void append_number(std::string& out, std::uint64_t number);
void append_number(std::string& out, double number);  // With at most three decimals.
void append_text(std::string& out,
                 std::string_view text);  // In quotes. What is no UTF-8 is replaced.

}  // namespace airlock::server
