#include "operations/come_back.hpp"

#include <random>

namespace airlock::server {

std::chrono::milliseconds come_back_after() {
  constexpr int kLeast = 1'000;
  constexpr int kMost = 5'000;
  thread_local std::minstd_rand random(std::random_device{}());
  return std::chrono::milliseconds(std::uniform_int_distribution(kLeast, kMost)(random));
}

}  // namespace airlock::server
