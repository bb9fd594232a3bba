#pragma once

#include <string_view>

namespace airlock::cli {

// Writes all of the text to standard output, unbuffered. Exit with 74 if that fails: a full disk, a
// pipe that nobody reads, a descriptor that was closed.
void write_output(std::string_view text);

}  // namespace airlock::cli
