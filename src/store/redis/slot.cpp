#include "store/redis/slot.hpp"

#include <array>

namespace airlock::redis {
namespace {

// CRC-16/XMODEM.
constexpr auto kTable = [] {
  constexpr unsigned kPolynomial = 0x1021;
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned rest = byte << 8;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest & 0x8000U) != 0 ? rest << 1 ^ kPolynomial : rest << 1;
    }
    table[byte] = static_cast<std::uint16_t>(rest);
  }
  return table;
}();

}  // namespace

HashSlot slot_of(std::string_view tag) noexcept {
  unsigned crc = 0;
  for (const char c : tag) {
    crc = (crc << 8 ^ kTable[(crc >> 8 ^ static_cast<unsigned char>(c)) & 0xFFU]) & 0xFFFFU;
  }
  return static_cast<HashSlot>(crc % kHashSlots);
}

}  // namespace airlock::redis
