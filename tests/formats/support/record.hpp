#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace airlock::formats {

struct Field {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
};

// A record of a segment. all_records() of the generated record_fields.hpp has them all.
struct Record {
  std::string name;
  std::size_t size = 0;
  std::vector<Field> fields;
};

// Where each field is and how many bytes it has; gaps are shown.
[[nodiscard]] std::string describe(const Record& record);

// The bytes of every field of a record in memory, as hex, zeros at the end left out.
[[nodiscard]] std::string dump(const Record& record, const void* memory);

// Bytes as hex, 32 to a line, indented.
[[nodiscard]] std::string hex_lines(std::string_view bytes);

}  // namespace airlock::formats
