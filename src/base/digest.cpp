#include "base/digest.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace airlock::base {
namespace {

constexpr std::size_t kLengthSize = 8;

using Schedule = std::array<std::uint32_t, 64>;

constexpr Schedule kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

Schedule expand(const std::array<std::uint8_t, Sha256::kBlockSize>& block) {
  Schedule w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian(&block[4 * t]);
  for (std::size_t t = 16; t < w.size(); ++t) {
    const auto s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const auto s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  return w;
}

}  // namespace

// The letters are those of FIPS 180-4, 6.2.2.
void Sha256::absorb(State& state, const Block& block) noexcept {
  const Schedule w = expand(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < w.size(); ++t) {
    const auto sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const auto sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const auto t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
    const auto t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const State mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

void Sha256::update(std::string_view bytes) noexcept {
  std::size_t used = total_ % kBlockSize;
  total_ += bytes.size();
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kBlockSize - used);
    std::copy(piece.begin(), piece.end(), block_.begin() + used);
    bytes.remove_prefix(piece.size());
    used += piece.size();
    if (used < kBlockSize) return;
    absorb(state_, block_);
    used = 0;
  }
}

Digest Sha256::finish() const noexcept {
  State state = state_;
  Block block{};
  const std::size_t used = total_ % kBlockSize;
  std::copy_n(block_.begin(), used, block.begin());
  block[used] = 0x80;
  if (used >= kBlockSize - kLengthSize) {
    absorb(state, block);
    block = {};
  }
  const std::uint64_t bits = 8 * total_;
  for (std::size_t i = 0; i < kLengthSize; ++i) {
    block[kBlockSize - 1 - i] = static_cast<std::uint8_t>(bits >> 8 * i);
  }
  absorb(state, block);

  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

Digest sha256(std::string_view bytes) noexcept {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

}  // namespace airlock::base
