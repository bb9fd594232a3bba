#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "model/records.hpp"

// The bytes of a segment. docs/formats.md draws them and says who writes which word when.
//
//   0        Header            what the segment is; written once, before anybody can see it
//   4 KiB    ProcessRecord[]   who uses it; a page is there when its first record is
//   ...      ShardControl[]    a lock and a head of the model for each shard, a page or more each
//   ...      regions           the records of the model: for each shard, for each Region, an array
//
// Everything is an offset or an index, of fixed width. The file has its full size from the start and
// no more memory than was asked for: a page is allocated before anything points there.

namespace airlock::shm {

// Segments of another version are refused. Raise it whenever a record or its meaning changes;
// tests/formats/segment.golden notices.
inline constexpr std::uint32_t kLayoutVersion = 2;

inline constexpr std::array<char, 8> kMagic = {'a', 'i', 'r', 'l', 'o', 'c', 'k', '\n'};

inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::uint64_t kRegionAlignment = 65'536;  // A page wherever this runs.
inline constexpr std::uint32_t kShards = 16;
inline constexpr std::uint32_t kMaxProcesses = 4096;

// Byte locks begin here, far above any size: byte kLocks + i says that process i lives.
inline constexpr std::uint64_t kLocks = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kReplacing = kLocks + (1U << 20);  // Who may unlink the file.

template <typename T>
using Shared = std::atomic<T>;

struct Header {
  // Never change; the check covers all of it up to `check`.
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;   // 0x01020304 as the processor writes it.
  std::uint64_t fingerprint;  // Of the sizes of everything below: two builds may differ in them.
  std::uint64_t size;
  std::uint32_t shards;
  std::uint32_t scale;  // How many extents the arrays may have.
  std::uint64_t store;
  std::uint64_t seed;            // Of the hashes.
  std::array<char, 40> boot;     // A segment does not outlive its boot,
  std::uint64_t time_namespace;  // and its time means nothing in another one.
  std::uint32_t check;           // CRC-32C.

  // Change.
  alignas(64) Shared<std::uint32_t> processes;  // Records at and above it were never used.
  alignas(
      64) Shared<std::uint64_t> last_probe;  // When processes were last looked at in turn, in us,
  Shared<std::uint32_t> next_probe;          // and with which record the next look begins.
  Shared<std::uint32_t> died;                // How many processes were found dead,
  Shared<std::uint64_t> last_death;          // and when the last one, in us.
};

// A process that uses the segment. It lives while it has the byte lock of its place and
// `incarnation` is its own; both end together, except that a claim raises the incarnation of a dead
// one first.
struct alignas(64) ProcessRecord {
  static constexpr std::size_t kNotices = 24;
  static constexpr std::size_t kFutexSlots = 4;

  Shared<std::uint32_t> incarnation;
  Shared<std::uint32_t> live;  // The incarnation that uses it; 0: none. Others look here first.
  Shared<std::uint32_t> pid;   // For people; means nothing to this store.
  alignas(64) Shared<std::uint32_t> news;  // Raised with every notice; its own thread sleeps on it.
  Shared<std::uint32_t> overflow;          // There were more notices than places.
  std::array<Shared<std::uint32_t>, kNotices> notices;         // Numbers of watches + 1.
  std::array<Shared<std::uint32_t>, kFutexSlots> futex_slots;  // Threads that wait sleep on these.
  // For each shard, where the list of this place's bound visits begins: a Ref + 1. Guarded by the
  // lock of the shard, and kept when another process takes the place.
  alignas(64) std::array<std::uint32_t, kShards> bound;
};

struct alignas(kPage) ShardControl {
  static constexpr std::size_t kReturns = 14;

  Shared<std::uint64_t> lock;                  // 0: free; else who has it.
  alignas(64) Shared<std::uint32_t> returned;  // Something was given back without the lock:
  Shared<std::uint32_t> more_returned;         // more than
  std::array<Shared<std::uint32_t>, kReturns> returns;  // fits here; places + 1.
  alignas(64) Shared<std::uint32_t> deaths;             // There are bits in `dead`.
  Shared<std::uint32_t> damaged;                        // To be repaired before the next step.
  // A bit for each process record whose user died or left: what it had here is to be ended.
  alignas(64) std::array<Shared<std::uint64_t>, kMaxProcesses / 64> dead;
  alignas(64) model::ShardHead head;
};

// How a segment of some size is divided up.
class Layout {
 public:
  explicit Layout(std::uint32_t scale) noexcept;

  // The largest that fits; scale 0: none does.
  [[nodiscard]] static Layout within(std::uint64_t size) noexcept;

  [[nodiscard]] std::uint32_t scale() const noexcept { return scale_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  static constexpr std::uint64_t kProcesses = kPage;
  static constexpr std::uint64_t kControls =
      (kProcesses + kMaxProcesses * sizeof(ProcessRecord) + kPage - 1) / kPage * kPage;
  static constexpr std::uint64_t kRegions =
      (kControls + kShards * sizeof(ShardControl) + kRegionAlignment - 1) / kRegionAlignment *
      kRegionAlignment;

  // How many records of a kind a shard may have.
  [[nodiscard]] std::uint32_t capacity(model::Region region) const noexcept;

  // Where an extent is, and whether there can be one.
  struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] ByteRange extent(std::uint32_t shard, model::Region region,
                                 std::uint32_t number) const noexcept;

 private:
  std::uint32_t scale_;
  std::uint64_t size_;
  std::uint64_t shard_size_ = 0;
  std::array<std::uint64_t, model::kRegions> starts_{};
  std::array<std::uint32_t, model::kRegions> extents_{};
};

[[nodiscard]] std::uint64_t fingerprint() noexcept;

static_assert(sizeof(Header) <= kPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace airlock::shm
