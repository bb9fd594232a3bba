#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "fuzz.hpp"

namespace {

constexpr std::string_view kPassword = "hunter2";

// Whether the word stands in the place of a password, and nowhere else.
bool is_password(std::string_view uri) {
  const std::size_t at = uri.find(kPassword);
  return uri.starts_with("redis") && at != std::string_view::npos && at == uri.rfind(kPassword) &&
         uri.substr(at + kPassword.size()).starts_with("@");
}

}  // namespace

// Any URI opens or is refused, and the refusal does not show a password.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view uri = airlock::fuzz::text_of(data, size);
  try {
    (void)airlock::open_store(uri);
  } catch (const airlock::InvalidArgument& error) {
    const std::string_view what = error.what();
    airlock::fuzz::require(!is_password(uri) || what.find(kPassword) == std::string_view::npos);
  }
  return 0;
}
