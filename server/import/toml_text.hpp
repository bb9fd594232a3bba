#pragma once

#include <string>
#include <string_view>

namespace airlock::server::import {

// A text as TOML writes it, with its quotes.
[[nodiscard]] std::string toml_text(std::string_view text);

}  // namespace airlock::server::import
