#include "base/chacha.hpp"

#include <cstring>

namespace airlock::base {
namespace {

// The same word of four blocks; the compiler makes vector instructions of it where there are any.
using Lanes = std::uint32_t __attribute__((vector_size(16)));
using Square = std::array<Lanes, 16>;

template <int kBits>
Lanes rotate(Lanes lanes) noexcept {
  return lanes << kBits | lanes >> (32 - kBits);
}

void quarter_round(Lanes& a, Lanes& b, Lanes& c, Lanes& d) noexcept {
  a += b;
  d = rotate<16>(d ^ a);
  c += d;
  b = rotate<12>(b ^ c);
  a += b;
  d = rotate<8>(d ^ a);
  c += d;
  b = rotate<7>(b ^ c);
}

void double_round(Square& s) noexcept {
  for (std::size_t i = 0; i < 4; ++i) quarter_round(s[i], s[4 + i], s[8 + i], s[12 + i]);
  quarter_round(s[0], s[5], s[10], s[15]);
  quarter_round(s[1], s[6], s[11], s[12]);
  quarter_round(s[2], s[7], s[8], s[13]);
  quarter_round(s[3], s[4], s[9], s[14]);
}

Lanes all(std::uint32_t word) noexcept { return Lanes{word, word, word, word}; }

}  // namespace

void chacha20(const ChachaKey& key, std::span<std::byte, 4 * kChachaBlock> out) noexcept {
  Square start = {all(0x61707865), all(0x3320646e), all(0x79622d32), all(0x6b206574)};
  for (std::size_t i = 0; i < key.size(); ++i) start[4 + i] = all(key[i]);
  start[12] = Lanes{0, 1, 2, 3};  // The number of the block; the nonce after it is 0.
  Square square = start;
  for (int i = 0; i < 10; ++i) double_round(square);
  for (std::size_t word = 0; word < square.size(); ++word) {
    const Lanes sum = square[word] + start[word];
    for (std::size_t block = 0; block < 4; ++block) {
      const std::uint32_t value = sum[block];
      std::memcpy(&out[block * kChachaBlock + word * sizeof value], &value, sizeof value);
    }
  }
}

}  // namespace airlock::base
