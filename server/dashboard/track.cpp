#include "dashboard/track.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace airlock::server {
namespace {

// Seven bits per byte, the lowest first; the highest bit says that more follow.
constexpr unsigned kBits = 7;
constexpr std::uint64_t kMore = 0x80;

void append(std::string& out, std::uint64_t number) {
  for (; number >= kMore; number >>= kBits) out += static_cast<char>(number | kMore);
  out += static_cast<char>(number);
}

std::uint64_t read(std::string_view& in) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += kBits) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    number |= (byte & (kMore - 1)) << shift;
    if (byte < kMore) return number;
  }
}

// Small where the difference is, in either direction.
std::uint64_t difference(std::uint64_t from, std::uint64_t to) {
  return to >= from ? (to - from) << 1U : ((from - to) << 1U) - 1;
}

std::uint64_t apply(std::uint64_t from, std::uint64_t difference) {
  return (difference & 1U) == 0 ? from + (difference >> 1U) : from - ((difference + 1) >> 1U);
}

void append(std::string& out, const Sample& before, const Sample& now) {
  std::uint64_t changed = 0;
  for (std::size_t i = 0; i < Sample::kSize; ++i)
    changed |= std::uint64_t{before.values[i] != now.values[i]} << i;
  append(out, changed);
  for (std::size_t i = 0; i < Sample::kSize; ++i) {
    if ((changed >> i & 1U) != 0) append(out, difference(before.values[i], now.values[i]));
  }
}

void read(std::string_view& in, Sample& sample) {
  const std::uint64_t changed = read(in);
  for (std::size_t i = 0; i < Sample::kSize; ++i) {
    if ((changed >> i & 1U) != 0) sample.values[i] = apply(sample.values[i], read(in));
  }
}

}  // namespace

bool Track::add(std::uint32_t tick, const Sample& sample) {
  if (!blocks_.empty() && sample == last_) return false;
  if (blocks_.empty() || blocks_.back().count == kBlockSamples) {
    if (!blocks_.empty()) {
      encoded_ -= blocks_.back().bytes.capacity();
      blocks_.back().bytes.shrink_to_fit();
      encoded_ += blocks_.back().bytes.capacity();
    }
    blocks_.push_back({.begin = tick});
    encoded_ += blocks_.back().bytes.capacity();
    last_tick_ = tick;
    last_ = {};
  }
  Block& block = blocks_.back();
  encoded_ -= block.bytes.capacity();
  append(block.bytes, tick - last_tick_);
  append(block.bytes, last_, sample);
  encoded_ += block.bytes.capacity();
  ++block.count;
  last_tick_ = tick;
  last_ = sample;
  return true;
}

void Track::drop_before(std::uint32_t tick) {
  const auto later = std::find_if(blocks_.begin(), blocks_.end(),
                                  [tick](const Block& block) { return block.begin > tick; });
  if (later == blocks_.begin()) return;
  const auto first = std::prev(later);
  for (auto block = blocks_.begin(); block != first; ++block) encoded_ -= block->bytes.capacity();
  blocks_.erase(blocks_.begin(), first);
}

void Track::clear() {
  blocks_ = {};
  encoded_ = 0;
}

void Track::visit(const std::function<void(std::uint32_t tick, const Sample& sample)>& take) const {
  for (const Block& block : blocks_) {
    std::string_view in = block.bytes;
    std::uint32_t tick = block.begin;
    Sample sample;
    while (!in.empty()) {
      tick += static_cast<std::uint32_t>(read(in));
      read(in, sample);
      take(tick, sample);
    }
  }
}

std::size_t Track::bytes() const noexcept { return blocks_.capacity() * sizeof(Block) + encoded_; }

}  // namespace airlock::server
