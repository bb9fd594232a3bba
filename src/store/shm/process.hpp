#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/close_on_fork.hpp"
#include "model/records.hpp"
#include "store/shm/segment.hpp"

namespace airlock::shm {

// This process as the segment knows it, and its view of the others.
//
// A process lives while it has the byte lock of its record. The kernel gives the lock up with the
// process, whatever ended it, and every process sees it, also from another PID namespace. Who owns
// what is said by `Owner`: the place of the record and its incarnation, which no two processes ever
// share.
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

  // Whether somebody has found this process dead: its descriptors were closed behind its back.
  [[nodiscard]] bool is_buried() const noexcept {
    return record_->incarnation.load(std::memory_order_relaxed) != incarnation_of(self_);
  }
  // Why others may do so any time; empty: they may not.
  [[nodiscard]] std::string trouble() const;

  // By what is written alone.
  [[nodiscard]] bool is_known_dead(model::Owner owner) const noexcept;
  // Asks the kernel (0.8 us), and writes down a death.
  [[nodiscard]] bool lives(model::Owner owner) noexcept;
  // The same for all, unless that was done within the last milliseconds.
  void look_for_deaths(Duration at_least_ago) noexcept;

  // All of them, as the kernel knows them now.
  struct Census {
    std::uint32_t living = 0;
    std::uint32_t dead = 0;  // Not written off yet.
  };
  [[nodiscard]] Census census() const noexcept;

  // The record of an owner, if there can be one.
  [[nodiscard]] ProcessRecord* record_of(model::Owner owner) const noexcept;

  static constexpr std::uint32_t incarnation_of(model::Owner owner) noexcept {
    return static_cast<std::uint32_t>(owner >> 32);
  }
  static constexpr std::uint32_t number_of(model::Owner owner) noexcept {
    return (static_cast<std::uint32_t>(owner) >> 8) - 1;
  }

 private:
  [[nodiscard]] bool claim(std::uint32_t number, std::uint32_t dead);
  [[nodiscard]] bool claim_any();
  [[nodiscard]] bool add_record(std::uint32_t number) const;
  [[nodiscard]] bool is_locked(std::uint32_t number) const noexcept;
  [[nodiscard]] bool is_free_for_sure(std::uint32_t number) const noexcept;
  void bury(std::uint32_t number, std::uint32_t incarnation) const noexcept;
  [[nodiscard]] std::uint32_t records() const noexcept;

  const Segment& segment_;
  base::CloseOnFork fd_;  // Has the lock.
  model::Owner self_ = 0;
  ProcessRecord* record_ = nullptr;
  std::atomic<std::int64_t> pause_ = 0;  // Between two looks at all.
};

}  // namespace airlock::shm
