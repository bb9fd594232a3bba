#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "model/records.hpp"
#include "store/shm/segment.hpp"

namespace airlock::shm {

// This process as the segment knows it, and its view of the others.
//
// A process lives while it has the byte lock of its record. The kernel gives the lock up with the
// process, whatever ended it, and every process sees it, also from another PID namespace. A mapping
// keeps the lock, so that no descriptor that the program may close does. Who owns what is said by
// `Owner`: the place of the record and its incarnation, which no two processes ever share.
class Process {
 public:
  // Takes a record. StoreError (no_room) if all are in use.
  explicit Process(const Segment& segment);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Leaves: what is bound to this process ends.
  ~Process();

  [[nodiscard]] model::Owner self() const noexcept { return self_; }
  [[nodiscard]] ProcessRecord& record() const noexcept { return *record_; }

  // Whether somebody has found this process dead: the program has unmapped its lock.
  [[nodiscard]] bool is_marked_dead() const noexcept {
    return record_->incarnation.load(std::memory_order_relaxed) != model::incarnation_of(self_);
  }
  // Why nothing in the segment can be relied on any more; empty: it can.
  [[nodiscard]] std::string problem() const;

  // By what is written alone.
  [[nodiscard]] bool is_known_dead(model::Owner owner) const noexcept;
  // Asks the kernel (0.6 us with one process attached, 10 with 4 000), and writes down a death.
  [[nodiscard]] bool lives(model::Owner owner) noexcept;
  // The same for several; whether any is dead.
  [[nodiscard]] bool any_dead(std::span<const model::Owner> owners) noexcept;
  // What such a look takes.
  [[nodiscard]] Duration look_cost() const noexcept { return Duration(look_cost_.load()); }
  // A few of all processes in turn, once a second in the whole segment: those that hold something
  // nobody asks for are written off in the end.
  void look_in_turn() noexcept;

  // All of them, as the kernel knows them now.
  struct Counts {
    std::uint32_t living = 0;
    std::uint32_t dead = 0;          // Since the segment was made.
    Duration since_last_death = {};  // 0: it is not written off yet.
  };
  [[nodiscard]] Counts counts() const noexcept;

  // The record of an owner, if there can be one.
  [[nodiscard]] ProcessRecord* record_of(model::Owner owner) const noexcept;

  // The one that has the record of this number now; 0: there is no such record.
  [[nodiscard]] model::Owner present_owner(std::uint32_t number) const noexcept;

 private:
  [[nodiscard]] bool claim(std::uint32_t number, std::uint32_t dead);
  [[nodiscard]] bool claim_any();
  [[nodiscard]] bool claim_unused();
  [[nodiscard]] bool claim_of_the_dead(std::uint32_t first, std::uint32_t count);
  [[nodiscard]] bool add_record(std::uint32_t number) const;
  [[nodiscard]] bool is_locked(std::uint32_t number) const noexcept;
  [[nodiscard]] bool is_free_for_sure(std::uint32_t number) const noexcept;
  void write_off(std::uint32_t number, std::uint32_t incarnation) const noexcept;
  bool mark_dead(std::uint32_t number, std::uint32_t incarnation) const noexcept;
  [[nodiscard]] std::uint32_t records() const noexcept;

  const Segment& segment_;
  Descriptor fd_;        // Has the lock until
  base::KeptFile lock_;  // this has it.
  model::Owner self_ = 0;
  ProcessRecord* record_ = nullptr;
  std::atomic<std::int64_t> look_cost_ = 0;
};

}  // namespace airlock::shm
