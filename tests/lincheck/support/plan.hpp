#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "airlock/rate.hpp"
#include "airlock/request.hpp"

namespace airlock::lincheck {

enum class Subject : std::uint8_t { lock, semaphore, line, rate };

inline constexpr std::uint8_t kMaxClients = 6;

// What the clients of one history do. Plain bytes: processes read it from shared memory.
struct Plan {
  Subject subject = Subject::lock;
  std::array<char, 32> gate = {};
  std::uint32_t limit = 1;
  Rate rate = {};
  Hold hold = Hold::bound;
  std::uint8_t clients = 4;
  std::uint8_t operations = 8;       // Of each client; then it gives back what it has.
  std::uint8_t victims = 0;          // A bit for each client that is to be killed on the way,
  Duration killed_within{0};         // that long after its start, if it still runs.
  bool visitors_are_shared = false;  // Clients ask for each other now and then.
  std::uint64_t seed = 0;
};

}  // namespace airlock::lincheck
