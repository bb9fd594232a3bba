#include "formats/support/record.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace airlock::formats {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string line(std::size_t offset, std::size_t size, const std::string& name) {
  std::string text(64 + name.size(), '\0');
  const int length =
      std::snprintf(text.data(), text.size(), "%6zu %6zu  %s\n", offset, size, name.c_str());
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

std::string describe(const Record& record) {
  std::string text = record.name + ", " + std::to_string(record.size) + " bytes\n";
  std::size_t end = 0;
  for (const Field& field : record.fields) {
    if (field.offset > end) text += line(end, field.offset - end, "-");
    text += line(field.offset, field.size, field.name);
    end = std::max(end, field.offset + field.size);
  }
  if (record.size > end) text += line(end, record.size - end, "-");
  return text;
}

std::string dump(const Record& record, const void* memory) {
  std::string text = record.name + "\n";
  for (const Field& field : record.fields) {
    std::string_view bytes(static_cast<const char*>(memory) + field.offset, field.size);
    bytes = bytes.substr(0, bytes.find_last_not_of('\0') + 1);
    text += "  " + field.name + (bytes.empty() ? "" : " ") + hex(bytes) + "\n";
  }
  return text;
}

std::string hex_lines(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 32) {
    text += "  " + hex(bytes.substr(at, 32)) + "\n";
  }
  return text;
}

}  // namespace airlock::formats
