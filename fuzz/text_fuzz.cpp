#include "airlock/duration.hpp"
#include "airlock/error.hpp"
#include "airlock/name.hpp"
#include "airlock/rate.hpp"
#include "fuzz.hpp"

using namespace airlock;  // NOLINT(google-build-using-namespace): the whole program is one function

// Durations, rates and names: what is read can be written and read again, and is the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const auto try_to = [](auto step) {
    try {
      step();
    } catch (const InvalidArgument&) {  // NOLINT(bugprone-empty-catch): an answer
    }
  };
  try_to([&] {
    const Duration duration = parse_duration(text);
    fuzz::require(parse_duration(to_text(duration)) == duration);
  });
  try_to([&] {
    const Rate rate = Rate::parse(text);
    fuzz::require(Rate::parse(rate.text()) == rate);
  });
  try_to([&] { fuzz::require(GateName(text).view() == text); });
  return 0;
}
