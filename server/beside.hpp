#pragma once

namespace airlock::server {

// Runs the program `name`, in the folder of this one or of PATH, instead of this one. Returns if there is none: the number of
// the error.
[[nodiscard]] int become(const char* name, char** arguments);

}  // namespace airlock::server
