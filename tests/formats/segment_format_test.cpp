#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "formats/support/golden.hpp"
#include "formats/support/record.hpp"
#include "model/shard.hpp"
#include "model/support/heap_memory.hpp"
#include "record_fields.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"

// The bytes of a segment, as other builds will find them.

namespace airlock::formats {
namespace {

using namespace std::chrono_literals;

const Record& record_of(const std::string& name) {
  static const std::vector<Record> kAll = all_records();
  for (const Record& record : kAll) {
    if (record.name == name) return record;
  }
  throw std::logic_error(name);
}

class NobodyListens final : public model::Listener {
 public:
  void changed(model::Ref /*ref*/, model::Visit& /*visit*/) noexcept override {}
  bool reachable(const model::Visit& /*visit*/) noexcept override { return true; }
};

// Remembers the first extent of each region.
class FirstExtents final : public model::Memory {
 public:
  void* grow(model::Region region, std::uint32_t number, std::size_t bytes) noexcept override {
    void* const extent = heap_.grow(region, number, bytes);
    if (number == 0) first[static_cast<std::size_t>(region)] = extent;
    return extent;
  }
  void shrink(model::Region region, std::uint32_t number, void* extent,
              std::size_t bytes) noexcept override {
    heap_.shrink(region, number, extent, bytes);
  }

  std::array<void*, model::kRegions> first{};

 private:
  trial::HeapMemory heap_;
};

// A shard of which everything is known: its time, its draws, its hashes.
class KnownShard {
 public:
  Answer admit(const Request& request) {
    return shard_.admit(request, kHash, kRequester, context_);
  }
  void pause(Duration duration) { shard_.pause("erp", kHash, duration, "monitor", context_); }
  void set_limit(std::uint32_t limit) { shard_.set_limit("erp", kHash, limit, context_); }
  void after(Duration duration) {
    context_.now += duration.count();
    context_.wall += duration.count();
  }

  [[nodiscard]] std::string head() const { return dump(record_of("model::ShardHead"), &head_); }

  // The records of a kind that are not free.
  template <typename T>
  [[nodiscard]] std::string dumps(model::Region region, const std::string& name) const {
    const auto* const records =
        static_cast<const T*>(memory_.first[static_cast<std::size_t>(region)]);
    std::string text;
    for (std::size_t i = 0; i < model::ExtentArray<T>::kFirst; ++i) {
      if (!records[i].is_free())
        text += std::to_string(i) + " " + dump(record_of(name), &records[i]);
    }
    return text;
  }

 private:
  static constexpr std::uint32_t kHash = 0x12345678;
  static constexpr model::Requester kRequester{.owner = 0x0102030405060708};

  model::Draw draw_{1};
  model::StepContext context_{.now = 1'000'000'000, .wall = 1'767'225'600'000'000, .draw = draw_};
  NobodyListens listener_;
  FirstExtents memory_;
  model::ShardHead head_;
  model::Shard shard_{head_, memory_, listener_, 0x1122334455667788};
};

Request ask(std::string_view name, std::uint32_t limit) {
  return {.gate = "erp",
          .visitor = VisitorId::named(name),
          .label = name,
          .permits = Permits{.limit = limit, .ttl = 30s},
          .line = {.join = true}};
}

// Somebody is in, others wait in a lottery for two rates as well; then the gate is overridden and closed.
std::string busy_gate() {
  const std::array rates = {
      Rate{.count = 2, .period = 1s, .burst = 3},
      Rate{.count = 5, .period = 1min, .algorithm = Rate::Algorithm::sliding_window}};
  KnownShard shard;
  for (const std::string_view name : {"ann", "bob", "cid"}) {
    Request request = ask(name, 1);
    request.rates = rates;
    request.line.order = Order::aging_lottery;
    request.line.aging = {.base = 2, .per_second = 3, .max = 50};
    if (name == "bob") request.hold = Hold::detached;
    (void)shard.admit(request);
    shard.after(1500ms);
  }
  shard.set_limit(2);
  shard.pause(20s);
  using model::Region;
  return shard.head() + shard.dumps<model::Gate>(Region::gates, "model::Gate") +
         shard.dumps<model::Visit>(Region::visits, "model::Visit") +
         shard.dumps<model::Tier>(Region::tiers, "model::Tier") +
         shard.dumps<model::Pause>(Region::pauses, "model::Pause");
}

// More slots than the gate itself has bits for.
std::string many_slots() {
  KnownShard shard;
  for (int i = 0; i < 67; ++i) (void)shard.admit(ask("visitor" + std::to_string(i), 1000));
  return shard.dumps<model::SlotNode>(model::Region::slots, "model::SlotNode");
}

// Of a new segment; what differs from one to the next is left out.
std::string header() {
  const TempDir dir;
  (void)shm::make_store({.name = "test", .dir = dir.path(), .size = 16U << 20}, Clock::system())
      .list();
  std::ifstream file(dir.path() + "/test", std::ios::binary);
  std::array<char, sizeof(shm::Header)> bytes{};
  file.read(bytes.data(), bytes.size());
  Record record = record_of("shm::Header");
  std::erase_if(record.fields, [](const Field& field) {
    return field.name == "store" || field.name == "seed" || field.name == "boot" ||
           field.name == "time_namespace" || field.name == "check" ||
           field.offset >= sizeof(shm::Header) / 2;
  });
  return dump(record, bytes.data());
}

std::string places() {
  std::string text = "shards " + std::to_string(shm::kShards) + ", processes " +
                     std::to_string(shm::kMaxProcesses) + " at " +
                     std::to_string(shm::Layout::kProcesses) + ", controls at " +
                     std::to_string(shm::Layout::kControls) + ", regions at " +
                     std::to_string(shm::Layout::kRegions) + ", locks at " +
                     std::to_string(shm::kLocks) + " and " + std::to_string(shm::kReplacing) + "\n";
  const shm::Layout layout = shm::Layout::within(16U << 20);
  for (std::uint32_t region = 0; region < model::kRegions; ++region) {
    const auto place = layout.extent(1, static_cast<model::Region>(region), 0);
    text += "shard 1, region " + std::to_string(region) + ": at " + std::to_string(place.offset) +
            ", " + std::to_string(place.bytes) + " bytes\n";
  }
  return text;
}

TEST(SegmentFormat, ChangesWithItsVersionOnly) {
  std::string text = "--- places\n" + places() + "--- fields: offset, bytes, name\n";
  for (const Record& record : all_records()) text += describe(record);
  text += "--- the header of a new segment of 16 MiB\n" + header();
  text += "--- a busy gate\n" + busy_gate();
  text += "--- the slots of 67 holders\n" + many_slots();
  expect_golden({.name = "segment",
                 .version = shm::kLayoutVersion,
                 .version_is_in = "kLayoutVersion in src/store/shm/layout.hpp"},
                text);
}

}  // namespace
}  // namespace airlock::formats
