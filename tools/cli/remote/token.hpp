#pragma once

#include <string>

namespace airlock::cli {

// The token for a server: the first line of `file`, else `otherwise`, which is the value of
// AIRLOCK_SERVER_TOKEN. Empty: there is none. InvalidArgument never shows any of it.
[[nodiscard]] std::string read_token(const std::string& file, const std::string& otherwise);

}  // namespace airlock::cli
