#include "fuzz.hpp"
#include "store/shm/support/segment_trial.hpp"

// A segment with other bytes at some places, written before or after it is attached to: every step
// returns or says what is wrong.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto& trial = *new airlock::SegmentTrial;
  airlock::fuzz::Input input(data, size);
  const bool before = (input.byte() & 1U) != 0;
  if (before) trial.detach();
  for (int i = 0; i < 8 && !input.is_empty(); ++i) {
    const std::uint32_t at = input.number();
    trial.write(at % trial.size(), input.bytes(1 + input.byte() % 8));
  }
  if (before) trial.attach();
  (void)trial.use();
  trial.restore();
  return 0;
}
