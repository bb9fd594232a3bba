#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/extents.hpp"
#include "model/index.hpp"
#include "model/pool.hpp"
#include "model/records.hpp"
#include "model/slots.hpp"
#include "model/support/heap_memory.hpp"
#include "model/tree.hpp"

// What the records are kept in: pools, the index, the trees, the slot numbers.

namespace airlock::model {
namespace {

using trial::HeapMemory;

struct Record {
  [[nodiscard]] bool is_free() const noexcept { return !taken; }

  bool taken = false;
  std::uint32_t hash = 0;
  std::uint32_t key = 0;
  Ref link = kNone;
  Links links;
  std::uint32_t in_subtree = 0;
};

// A pool whose records say themselves that they are taken.
struct Records {
  Ref take() {
    EXPECT_TRUE(pool.reserve(1));
    const Ref ref = pool.take();
    EXPECT_FALSE(pool[ref].taken);
    pool[ref].taken = true;
    return ref;
  }
  void give(Ref ref) {
    pool[ref].taken = false;
    pool.give(ref);
  }

  HeapMemory memory;
  PoolHead head;
  Pool<Record> pool{head, memory, Region::visits};
};

constexpr int kOperations = 100'000;

// --- extents ---

TEST(Extents, HoldEveryPlaceOnce) {
  using Array = ExtentArray<int>;
  Ref ref = 0;
  for (std::uint32_t extent = 0; extent < 8; ++extent) {
    EXPECT_EQ(Array::start_of(extent), ref);
    EXPECT_EQ(Array::extent_of(ref), extent);
    ref += Array::size_of(extent);
    EXPECT_EQ(Array::extent_of(ref - 1), extent);
  }
}

TEST(Extents, StayWhereTheyAreWhileMoreAreAdded) {
  HeapMemory memory;
  PublishedField<std::uint32_t> extents;
  ExtentArray<std::uint32_t> array(memory, Region::slots, extents);
  ASSERT_TRUE(array.grow());
  std::uint32_t* first = &array[0];
  while (array.extents() < 10) ASSERT_TRUE(array.grow());
  EXPECT_EQ(&array[0], first);
  for (Ref ref = 0; ref < 60'000; ++ref) array[ref] = ref;
  for (Ref ref = 0; ref < 60'000; ++ref) ASSERT_EQ(array[ref], ref);
}

TEST(Extents, AreGivenBackInTheEnd) {
  HeapMemory memory;
  {
    PublishedField<std::uint32_t> extents;
    ExtentArray<int> array(memory, Region::slots, extents);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(array.grow());
    EXPECT_EQ(memory.extents, 5U);
  }
  EXPECT_EQ(memory.extents, 0U);
}

TEST(Extents, AreNoMoreThanThereIsRoomForWhateverTheirCountSays) {
  struct Mapped final : Memory {
    void* grow(Region, std::uint32_t, std::size_t) noexcept override { return nullptr; }
    void shrink(Region, std::uint32_t, void*, std::size_t) noexcept override {}
    [[nodiscard]] void* address(Region, std::uint32_t number, std::size_t) const noexcept override {
      return number < extents.size() ? static_cast<void*>(extents[number]) : nullptr;
    }
    [[nodiscard]] bool is_private() const noexcept override { return false; }

    int first[64] = {};
    int second[128] = {};
    std::array<int*, 2> extents = {first, second};
  } memory;
  PublishedField<std::uint32_t> extents;
  const ExtentArray<int> array(memory, Region::slots, extents);
  EXPECT_EQ(array.extents(), 0U);
  extents.set(20);
  EXPECT_EQ(array.extents(), 2U);
}

// --- pool ---

TEST(Pool, GivesEveryPlaceOnce) {
  Records records;
  std::set<Ref> taken;
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(taken.insert(records.take()).second);
  EXPECT_EQ(records.pool.used(), 10'000U);
  EXPECT_GE(records.pool.end(), 10'000U);
  for (const Ref ref : taken) EXPECT_TRUE(records.pool.live(ref));
  EXPECT_FALSE(records.pool.live(records.pool.end()));
}

TEST(Pool, TakesFromTheLowestExtentFirst) {
  Records records;
  for (int i = 0; i < 1'000; ++i) (void)records.take();
  records.give(3);
  records.give(700);
  EXPECT_EQ(records.take(), 3U);
  EXPECT_EQ(records.take(), 700U);
}

TEST(Pool, ShrinksToItsFirstExtent) {
  Records records;
  std::vector<Ref> taken;
  for (int i = 0; i < 10'000; ++i) taken.push_back(records.take());
  EXPECT_GT(records.memory.extents, 5U);
  std::ranges::shuffle(taken, std::mt19937(1));
  for (const Ref ref : taken) records.give(ref);
  EXPECT_EQ(records.memory.extents, 1U);
  EXPECT_EQ(records.pool.used(), 0U);
}

TEST(Pool, DoesNotGrowAndShrinkAllTheTime) {
  Records records;
  while (records.memory.extents < 3) (void)records.take();
  const Ref last = records.take();
  records.give(last);
  for (int i = 0; i < 100; ++i) {
    const std::size_t before = records.memory.extents;
    records.give(records.take());
    EXPECT_EQ(records.memory.extents, before);
  }
}

TEST(Pool, ReservesSeveral) {
  Records records;
  for (int i = 0; i < 60; ++i) (void)records.take();
  ASSERT_TRUE(records.pool.reserve(300));
  std::set<Ref> taken;
  for (int i = 0; i < 300; ++i) {
    const Ref ref = records.pool.take();
    records.pool[ref].taken = true;
    ASSERT_TRUE(taken.insert(ref).second);
  }
}

class NoMemory final : public Memory {
 public:
  void* grow(Region /*region*/, std::uint32_t /*number*/, std::size_t /*bytes*/) noexcept override {
    return nullptr;
  }
  void shrink(Region /*region*/, std::uint32_t /*number*/, void* /*extent*/,
              std::size_t /*bytes*/) noexcept override {}
};

TEST(Pool, SaysWhenThereIsNoRoom) {
  NoMemory memory;
  PoolHead head;
  Pool<Record> pool(head, memory, Region::visits);
  EXPECT_FALSE(pool.reserve(1));
  EXPECT_EQ(pool.used(), 0U);
  EXPECT_EQ(pool.end(), 0U);
}

TEST(Pool, VisitsWhatIsTakenInOrder) {
  Records records;
  std::set<Ref> taken;
  std::mt19937 random(2);
  for (int i = 0; i < 2'000; ++i) taken.insert(records.take());
  for (int i = 0; i < 1'000; ++i) {
    const auto gone =
        std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
    records.give(*gone);
    taken.erase(gone);
  }
  std::vector<Ref> visited;
  records.pool.for_each([&](Ref ref) { visited.push_back(ref); });
  EXPECT_TRUE(std::ranges::equal(visited, taken));
}

TEST(Pool, IsASetOfPlacesWhateverHappens) {
  Records records;
  std::vector<Ref> taken;
  std::mt19937 random(3);
  for (int i = 0; i < kOperations; ++i) {
    const bool fills = i / 10'000 % 2 == 0;
    if (taken.empty() || random() % 10 < (fills ? 7U : 3U)) {
      taken.push_back(records.take());
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      records.give(taken.back());
      taken.pop_back();
    }
    ASSERT_EQ(records.pool.used(), taken.size());
  }
}

TEST(Pool, IsRebuiltFromItsRecords) {
  Records records;
  std::set<Ref> taken;
  for (int i = 0; i < 1'000; ++i) taken.insert(records.take());
  std::mt19937 random(4);
  std::erase_if(taken,
                [&](Ref ref) { return random() % 3 == 0 && !(records.pool[ref].taken = false); });
  records.head.open = 0x5555;
  for (auto& extent : records.head.extent) {
    extent.free = 7;
    extent.used = 99;
  }
  records.pool.rebuild();
  EXPECT_EQ(records.pool.used(), taken.size());
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(taken.insert(records.take()).second);
}

// --- index ---

class IndexTest : public ::testing::Test {
 protected:
  Ref add(std::uint32_t key, std::uint32_t hash) {
    const Ref ref = records_.take();
    records_.pool[ref].key = key;
    records_.pool[ref].hash = hash;
    index_.insert(records_.pool.at(ref));
    return ref;
  }
  void drop(Ref ref) {
    index_.erase(records_.pool.at(ref));
    records_.give(ref);
  }
  At<Record> find(std::uint32_t key, std::uint32_t hash) {
    return index_.find(hash, [&](const Record& record) { return record.key == key; });
  }

  Records records_;
  HeapMemory memory_;  // Of the buckets.
  IndexHead head_;
  Index<Record> index_{head_, records_.pool, memory_, Region::visit_index};
};

TEST_F(IndexTest, FindsNothingBeforeAnythingIsThere) {
  EXPECT_FALSE(find(1, 1));
  ASSERT_TRUE(index_.reserve());
  EXPECT_FALSE(find(1, 1));
}

TEST_F(IndexTest, TellsRecordsOfTheSameHashApart) {
  ASSERT_TRUE(index_.reserve());
  std::vector<Ref> refs;
  for (std::uint32_t key = 0; key < 50; ++key) refs.push_back(add(key, 42));
  for (std::uint32_t key = 0; key < 50; key += 2) drop(refs[key]);
  for (std::uint32_t key = 0; key < 50; ++key) {
    EXPECT_EQ(static_cast<bool>(find(key, 42)), key % 2 == 1);
  }
}

TEST_F(IndexTest, IsAMapWhateverHappens) {
  ASSERT_TRUE(index_.reserve());
  std::unordered_map<std::uint32_t, Ref> expected;
  std::mt19937 random(5);
  const auto hash_of = [](std::uint32_t key) { return key * 2'654'435'761U >> (key % 3 * 8); };
  for (int i = 0; i < kOperations; ++i) {
    const bool fills = i / 20'000 % 2 == 0;
    const auto key = static_cast<std::uint32_t>(random() % 20'000);
    const auto known = expected.find(key);
    const At<Record> found = find(key, hash_of(key));
    ASSERT_EQ(static_cast<bool>(found), known != expected.end());
    if (known == expected.end()) {
      if (random() % 10 < (fills ? 9U : 2U)) expected[key] = add(key, hash_of(key));
    } else {
      ASSERT_EQ(found.ref, known->second);
      if (random() % 10 < (fills ? 1U : 9U)) {
        drop(known->second);
        expected.erase(known);
      }
    }
  }
  for (const auto& [key, ref] : expected) ASSERT_EQ(find(key, hash_of(key)).ref, ref);
  EXPECT_EQ(head_.items, expected.size());
}

TEST_F(IndexTest, ShrinksBack) {
  ASSERT_TRUE(index_.reserve());
  std::vector<Ref> refs;
  for (std::uint32_t key = 0; key < 50'000; ++key) refs.push_back(add(key, key * 2'654'435'761U));
  EXPECT_GE(head_.buckets, 50'000U);
  for (const Ref ref : refs) drop(ref);
  EXPECT_EQ(head_.items, 0U);
  EXPECT_EQ(memory_.extents, 1U);
}

TEST_F(IndexTest, BeginsAnewWhenCleared) {
  ASSERT_TRUE(index_.reserve());
  for (std::uint32_t key = 0; key < 5'000; ++key) add(key, key);
  index_.clear();
  EXPECT_FALSE(find(17, 17));
  records_.pool.for_each([&](Ref ref) { index_.insert(records_.pool.at(ref)); });
  for (std::uint32_t key = 0; key < 5'000; ++key) ASSERT_TRUE(find(key, key));
}

TEST(Index, GoesOnWithoutRoomForMoreBuckets) {
  Records records;
  struct OneExtent final : Memory {
    void* grow(Region /*region*/, std::uint32_t number, std::size_t bytes) noexcept override {
      return number == 0 ? heap.grow(Region::slots, 0, bytes) : nullptr;
    }
    void shrink(Region region, std::uint32_t number, void* extent,
                std::size_t bytes) noexcept override {
      heap.shrink(region, number, extent, bytes);
    }
    HeapMemory heap;
  } memory;
  IndexHead head;
  Index<Record> index(head, records.pool, memory, Region::visit_index);
  ASSERT_TRUE(index.reserve());
  std::vector<Ref> refs;
  for (std::uint32_t key = 0; key < 1'000; ++key) {
    refs.push_back(records.take());
    records.pool[refs.back()].hash = records.pool[refs.back()].key = key;
    index.insert(records.pool.at(refs.back()));
  }
  for (std::uint32_t key = 0; key < 1'000; ++key) {
    const auto same = [&](const Record& record) { return record.key == key; };
    ASSERT_EQ(index.find(key, same).ref, refs[key]);
  }
  for (const Ref ref : refs) index.erase(records.pool.at(ref));
  EXPECT_EQ(head.items, 0U);
}

// --- tree ---

struct ByKey {
  static constexpr bool kSums = true;
  const Pool<Record>* pool;
  [[nodiscard]] Links& links(Ref ref) const noexcept { return (*pool)[ref].links; }
  [[nodiscard]] bool before(Ref a, Ref b) const noexcept { return (*pool)[a].key < (*pool)[b].key; }
  void add(Ref above, Ref /*ref*/) const noexcept { ++(*pool)[above].in_subtree; }
  void subtract(Ref above, Ref /*ref*/) const noexcept { --(*pool)[above].in_subtree; }
  void sum(Ref ref) const noexcept {
    Record& record = (*pool)[ref];
    record.in_subtree = 1;
    for (const Ref child : {record.links.left, record.links.right}) {
      if (child != kNone) record.in_subtree += (*pool)[child].in_subtree;
    }
  }
};

std::uint32_t deepest_of(const Records& records) {
  std::uint32_t deepest = 0;
  records.pool.for_each([&](Ref ref) {
    std::uint32_t depth = 0;
    for (; ref != kNone; ref = records.pool[ref].links.parent) ++depth;
    deepest = std::max(deepest, depth);
  });
  return deepest;
}

class TreeTest : public ::testing::Test {
 protected:
  Ref add(std::uint32_t key) {
    const Ref ref = records_.take();
    records_.pool[ref].key = key;
    tree_.insert(root_, ref);
    return ref;
  }
  void drop(Ref ref) {
    tree_.erase(root_, ref);
    records_.give(ref);
  }
  [[nodiscard]] std::vector<std::uint32_t> keys() const {
    std::vector<std::uint32_t> keys;
    for (Ref ref = tree_.first(root_); ref != kNone; ref = tree_.next(ref)) {
      keys.push_back(records_.pool[ref].key);
    }
    return keys;
  }
  [[nodiscard]] std::uint32_t size() const {
    return root_ == kNone ? 0 : records_.pool[root_].in_subtree;
  }
  // Every sum is that of its children, and every child knows its parent.
  void expect_sound(Ref ref, Ref parent, std::uint32_t& count) const {
    if (ref == kNone) return;
    const Record& record = records_.pool[ref];
    std::uint32_t below = 0;
    ASSERT_EQ(record.links.parent, parent);
    expect_sound(record.links.left, ref, below);
    expect_sound(record.links.right, ref, below);
    ASSERT_EQ(record.in_subtree, below + 1);
    count += below + 1;
  }

  Records records_;
  Ref root_ = kNone;
  Tree<ByKey> tree_{ByKey{&records_.pool}};
};

TEST_F(TreeTest, OfNothingHasNoFirst) { EXPECT_EQ(tree_.first(root_), kNone); }

TEST_F(TreeTest, IsInOrder) {
  for (const std::uint32_t key : {5U, 1U, 9U, 3U, 7U, 3U}) add(key);
  EXPECT_EQ(keys(), (std::vector<std::uint32_t>{1, 3, 3, 5, 7, 9}));
  EXPECT_EQ(size(), 6U);
}

TEST_F(TreeTest, IsASetWhateverHappens) {
  std::set<std::pair<std::uint32_t, Ref>> expected;
  std::vector<Ref> refs;
  std::mt19937 random(6);
  for (int i = 0; i < kOperations; ++i) {
    const bool fills = i / 5'000 % 2 == 0;
    if (refs.empty() || random() % 10 < (fills ? 6U : 4U)) {
      const auto key = static_cast<std::uint32_t>(i % 3 == 0 ? random() % 50 : random());
      refs.push_back(add(key));
      expected.emplace(key, refs.back());
    } else {
      std::swap(refs[random() % refs.size()], refs.back());
      expected.erase({records_.pool[refs.back()].key, refs.back()});
      drop(refs.back());
      refs.pop_back();
    }
    ASSERT_EQ(size(), expected.size());
    if (expected.empty()) continue;
    ASSERT_EQ(records_.pool[tree_.first(root_)].key, expected.begin()->first);
    if (i % 1'000 != 0) continue;
    std::vector<std::uint32_t> sorted;
    for (const auto& [key, ref] : expected) sorted.push_back(key);
    ASSERT_EQ(keys(), sorted);
    std::uint32_t count = 0;
    expect_sound(root_, kNone, count);
    ASSERT_EQ(count, expected.size());
  }
}

TEST_F(TreeTest, StaysShallowWhenFilledInOrder) {
  for (std::uint32_t key = 0; key < 100'000; ++key) add(key);
  EXPECT_LT(deepest_of(records_), 60U);
}

struct ByKeyAlone : ByKey {
  static constexpr bool kSums = false;
};

// Newest keys mostly, some old ones, and whoever is last leaves more often than others. Equal keys stay
// in the order in which they came.
template <typename Traits>
void keep_the_ends(Traits (*traits)(Records&)) {
  Records records;
  const Tree<Traits> tree(traits(records));
  Ends ends;
  std::vector<std::pair<std::uint32_t, Ref>> expected;
  std::mt19937 random(7);
  for (std::uint32_t i = 0; i < kOperations; ++i) {
    const bool fills = i / 5'000 % 2 == 0;
    if (expected.empty() || random() % 10 < (fills ? 6U : 4U)) {
      const std::uint32_t key =
          random() % 4 == 0 ? static_cast<std::uint32_t>(random() % (i + 1)) : i / 3;
      const Ref ref = records.take();
      records.pool[ref].key = key;
      tree.insert(ends, ref);
      const auto after = std::ranges::upper_bound(expected, key, {},
                                                  [](const auto& entry) { return entry.first; });
      expected.emplace(after, key, ref);
    } else {
      const auto leaves = random() % 3 == 0
                              ? expected.end() - 1
                              : expected.begin() + static_cast<long>(random() % expected.size());
      tree.erase(ends, leaves->second);
      records.give(leaves->second);
      expected.erase(leaves);
    }
    ASSERT_EQ(ends.last, expected.empty() ? kNone : expected.back().second);
    ASSERT_EQ(ends.first, expected.empty() ? kNone : expected.front().second);
    if (i % 1'000 != 0) continue;
    Ref ref = ends.first;
    for (const auto& [key, other] : expected) {
      ASSERT_EQ(ref, other);
      ref = tree.next(ref);
    }
    ASSERT_EQ(ref, kNone);
  }
}

TEST(TreeWithItsEnds, IsTheSameAsWithout) {
  keep_the_ends<ByKeyAlone>([](Records& records) { return ByKeyAlone{{&records.pool}}; });
}

TEST(TreeWithItsEnds, IsTheSameAsWithoutWhereSumsAreKept) {
  keep_the_ends<ByKey>([](Records& records) { return ByKey{&records.pool}; });
}

TEST(TreeWithItsEnds, StaysShallowWhenFilledInOrder) {
  Records records;
  const Tree<ByKeyAlone> tree(ByKeyAlone{{&records.pool}});
  Ends ends;
  for (std::uint32_t key = 0; key < 100'000; ++key) {
    const Ref ref = records.take();
    records.pool[ref].key = key;
    tree.insert(ends, ref);
  }
  EXPECT_LT(deepest_of(records), 60U);
}

// --- slots ---

class SlotsTest : public ::testing::Test {
 protected:
  std::uint32_t take() {
    EXPECT_TRUE(slots_.reserve(gate_));
    return slots_.take(gate_);
  }

  HeapMemory memory_;
  PoolHead head_;
  Pool<SlotNode> nodes_{head_, memory_, Region::slots};
  Slots slots_{nodes_};
  Gate gate_;
};

TEST_F(SlotsTest, AreGivenFromTheLowest) {
  for (std::uint32_t slot = 0; slot < 100'000; ++slot) ASSERT_EQ(take(), slot);
}

TEST_F(SlotsTest, LeaveNothingBehind) {
  for (std::uint32_t slot = 0; slot < 100'000; ++slot) (void)take();
  for (std::uint32_t slot = 0; slot < 100'000; ++slot) slots_.give(gate_, slot);
  EXPECT_EQ(gate_.low_slots, 0U);
  EXPECT_EQ(nodes_.used(), 0U);
  EXPECT_EQ(take(), 0U);
}

TEST_F(SlotsTest, AreTheLowestFreeWhateverHappens) {
  std::set<std::uint32_t> free;
  for (std::uint32_t slot = 0; slot < 100'000; ++slot) free.insert(slot);
  std::vector<std::uint32_t> taken;
  std::mt19937 random(7);
  for (int i = 0; i < 3 * kOperations; ++i) {
    const bool fills = i / 50'000 % 2 == 0;
    if (taken.empty() || (!free.empty() && random() % 10 < (fills ? 9U : 1U))) {
      taken.push_back(take());
      ASSERT_EQ(taken.back(), *free.begin());
      free.erase(free.begin());
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      slots_.give(gate_, taken.back());
      free.insert(taken.back());
      taken.pop_back();
    }
  }
}

TEST_F(SlotsTest, CanBeMarkedInAnyOrder) {
  std::set<std::uint32_t> marked = {0, 1, 63, 64, 65, 4'159, 4'160, 300'000, (1U << 31) - 1};
  for (auto slot = marked.rbegin(); slot != marked.rend(); ++slot) {
    ASSERT_TRUE(slots_.mark(gate_, *slot));
  }
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(marked.insert(take()).second);
  EXPECT_TRUE(marked.contains(9'000));
  for (const std::uint32_t slot : marked) slots_.give(gate_, slot);
  EXPECT_EQ(nodes_.used(), 0U);
}

TEST_F(SlotsTest, OfOneGateAreNotThoseOfAnother) {
  Gate other;
  for (std::uint32_t slot = 0; slot < 1'000; ++slot) {
    ASSERT_EQ(take(), slot);
    ASSERT_TRUE(slots_.reserve(other));
    ASSERT_EQ(slots_.take(other), slot);
  }
}

}  // namespace
}  // namespace airlock::model
