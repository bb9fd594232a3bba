#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "command.hpp"
#include "signals.hpp"

namespace airlock::cli {

// How a command wants in: what run, acquire and take have in common.
struct Entry {
  std::optional<GateName> gate = {};
  bool lock = false;
  bool shared = false;
  std::uint32_t slots = 0;
  std::uint32_t weight = 1;
  std::uint32_t cost = 1;
  std::vector<Rate> rates = {};
  Duration wait = kForever;
  bool nonblock = false;
  Duration ttl = std::chrono::seconds(30);
  Order order = Order::fifo;
  std::uint16_t priority = 0;
  bool run_on_outage = false;
  int conflict_status = kRefused;
  bool verbose = false;
  std::string label = {};  // Empty: the store's default.
};

// --lock, --slots, --shared, --weight, --ttl, --label; what the ttl means differs.
void add_permit_options(CLI::App& app, Entry& entry, const std::string& ttl_help);
void add_rate_options(CLI::App& app, Entry& entry);
void add_wait_options(CLI::App& app, Entry& entry);  // --wait, --nonblock, --order, -E, -v
void add_conflict_status(CLI::App& app, Entry& entry);

// Whether it asks for permits, and not for rates alone.
[[nodiscard]] bool holds(const Entry& entry);

// InvalidArgument for `memory:`, which every process has for itself.
void require_shared_store(const Command& command);

// What somebody who was refused is told.
[[nodiscard]] std::string why(const Refused& refused, const Entry& entry);

// Gets in, showing on a terminal how the line moves on. A store that is too busy to answer is asked
// again as long as the entry may wait. A signal ends the wait: Exit with 128 and its number. Exit
// with the conflict status if refused, also if it would have to wait for an admission that this
// command runs inside of; with 71 if there is no descriptor or thread to wait with.
// InvalidArgument where options contradict each other.
[[nodiscard]] Lease enter(const Command& command, const Entry& entry, Signals& signals);

}  // namespace airlock::cli
