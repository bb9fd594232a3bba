// expect: 8 of 8 in use
// expect: one more thumbnail: full, ask again in 20s
// expect: after 20s: 7 of 8 in use
// expect: one more thumbnail: in
// A semaphore whose holders have weights: a video conversion uses as much as seven thumbnails.

#include <iostream>

#include "airlock/semaphore_seal.hpp"
#include "airlock/testing.hpp"

using namespace std::chrono_literals;

namespace {

void show_use(const airlock::Store& store) {
  const airlock::GateCounts counts = store.look("converter")->counts;
  std::cout << counts.in_use << " of " << counts.limit << " in use\n";
}

}  // namespace

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same.
  auto store = airlock::testing::memory_store(clock);

  // [weights]
  airlock::SemaphoreSeal thumbnails(store, "converter", {.limit = 8, .ttl = 20s});
  airlock::SemaphoreSeal videos(store, "converter", {.limit = 8, .weight = 7, .ttl = 10min});

  if (!videos.try_acquire() || !thumbnails.try_acquire()) return 1;
  show_use(store);

  auto another = thumbnails.try_acquire();
  if (!another) {
    std::cout << "one more thumbnail: " << airlock::to_text(another.error().reason)
              << ", ask again in " << airlock::to_text(another.error().retry_after) << "\n";
  }
  // [/weights]

  clock.advance(20s);  // As if the thumbnail's process was killed: its ttl ends.
  std::cout << "after 20s: ";
  show_use(store);
  if (thumbnails.try_acquire()) std::cout << "one more thumbnail: in\n";
}
