#pragma once

#include <bit>
#include <cstdint>

#include "model/extents.hpp"
#include "model/pool.hpp"
#include "model/traversal_budget.hpp"

namespace airlock::model {

// The shared part of an index. All of it but `extents` is derived.
struct IndexHead {
  PublishedField<std::uint32_t> extents;
  std::uint32_t buckets = 0;
  std::uint32_t mask = 0;  // 2^n - 1, the smallest that reaches every bucket.
  std::uint32_t items = 0;
};

// Finds a record by its hash. Linear hashing: it grows and shrinks by one bucket at a time, so that
// no call ever pays for a rehash of everything. Chains run through `Ref link` of the records; a
// record keeps its own `hash`.
template <typename Record>
class Index {
  static constexpr std::uint32_t kMinBuckets = ExtentArray<Ref>::kFirst;

 public:
  Index(IndexHead& head, Pool<Record>& pool, Memory& memory, Region region) noexcept
      : head_(head), pool_(pool), buckets_(memory, region, head.extents) {}

  // Makes the first buckets. False: no room.
  [[nodiscard]] bool reserve() {
    if (head_.buckets != 0 && buckets_.extents() != 0) return true;
    if (buckets_.extents() == 0 && !buckets_.grow()) return false;
    clear();
    return true;
  }

  // Empties the index; for rebuild. REQUIRES: reserve().
  void clear() {
    while (buckets_.extents() > 1) buckets_.shrink();
    head_.buckets = kMinBuckets;
    head_.mask = kMinBuckets - 1;
    head_.items = 0;
    for (Ref bucket = 0; bucket < kMinBuckets; ++bucket) buckets_[bucket] = kNone;
  }

  template <typename Match>
  [[nodiscard]] At<Record> find(std::uint32_t hash, Match&& match) const {
    if (head_.items == 0) return {};
    TraversalBudget budget;
    for (Ref ref = buckets_[bucket_of(hash)]; ref != kNone;) {
      const At<Record> record = pool_.at(ref);
      if (record->hash == hash && match(*record)) return record;
      budget.step();
      ref = record->link;
    }
    return {};
  }

  void prefetch(std::uint32_t hash) const noexcept { buckets_.prefetch(bucket_of(hash)); }

  void insert(At<Record> record) {
    if (++head_.items > head_.buckets) split();
    Ref& bucket = buckets_[bucket_of(record->hash)];
    record->link = bucket;
    bucket = record.ref;
  }

  void erase(At<Record> record) {
    Ref* link = &buckets_[bucket_of(record->hash)];
    for (TraversalBudget budget; *link != record.ref; link = &pool_[*link].link) budget.step();
    *link = record->link;
    --head_.items;
    if (head_.buckets > kMinBuckets) contract();
  }

 private:
  [[nodiscard]] std::uint32_t bucket_of(std::uint32_t hash) const noexcept {
    const std::uint32_t bucket = hash & head_.mask;
    return bucket < head_.buckets ? bucket : bucket & (head_.mask >> 1);
  }

  void push(std::uint32_t bucket, Ref ref) noexcept {
    pool_[ref].link = buckets_[bucket];
    buckets_[bucket] = ref;
  }

  // One more bucket takes its share from its buddy. Without room for it the chains only grow
  // longer.
  [[gnu::noinline]] void split() {
    const std::uint32_t added = head_.buckets;
    if (ExtentArray<Ref>::extent_of(added) >= buckets_.extents() && !buckets_.grow()) return;
    const std::uint32_t buddy = added - std::bit_floor(added);
    Ref ref = buckets_[buddy];
    buckets_[buddy] = kNone;
    buckets_[added] = kNone;
    head_.mask |= head_.buckets++;
    TraversalBudget budget;
    while (ref != kNone) {
      budget.step();
      const Ref next = pool_[ref].link;
      push(bucket_of(pool_[ref].hash), ref);
      ref = next;
    }
  }

  // Four at a time, so that the buckets are gone when the items are.
  [[gnu::noinline]] void contract() {
    for (int i = 0; i < 4 && head_.items < head_.buckets / 4 && head_.buckets > kMinBuckets; ++i) {
      merge();
    }
  }

  void merge() {
    const std::uint32_t last = --head_.buckets;
    if (last == head_.mask / 2 + 1) head_.mask /= 2;
    Ref ref = buckets_[last];
    TraversalBudget budget;
    while (ref != kNone) {
      budget.step();
      const Ref next = pool_[ref].link;
      push(bucket_of(pool_[ref].hash), ref);
      ref = next;
    }
    const std::uint32_t extents = buckets_.extents();
    if (extents > 0 && last == ExtentArray<Ref>::start_of(extents - 1)) buckets_.shrink();
  }

  IndexHead& head_;
  Pool<Record>& pool_;
  ExtentArray<Ref> buckets_;
};

}  // namespace airlock::model
