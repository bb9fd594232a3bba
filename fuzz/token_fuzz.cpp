#include "airlock/error.hpp"
#include "airlock/token.hpp"
#include "fuzz.hpp"

// Whatever is read as a token is what text() writes, byte for byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = airlock::fuzz::text_of(data, size);
  try {
    airlock::fuzz::require(airlock::Token::parse(text).text() == text);
  } catch (const airlock::InvalidArgument&) {  // NOLINT(bugprone-empty-catch): an answer
  }
  return 0;
}
