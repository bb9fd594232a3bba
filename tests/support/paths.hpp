#pragma once

#include <string>

// Where things are. Only the source of these functions is compiled with paths of this checkout, so that a compiler
// cache serves everything else in every checkout.

namespace airlock::testing {

[[nodiscard]] std::string source_dir();
[[nodiscard]] std::string shifted_clock();  // The library that shifts the clock of a redis-server.
[[nodiscard]] std::string
processor_clock();  // And the one that makes it stand still while others run.
// The program of store/other_layout, with another record and with the version before.
[[nodiscard]] std::string other_layout();
[[nodiscard]] std::string older_layout();

}  // namespace airlock::testing
