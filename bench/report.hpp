#pragma once

#include <ostream>
#include <span>

#include "growth.hpp"
#include "harness.hpp"

namespace airlock::bench {

// For people.
void print_table(std::ostream& out, std::span<const Result> results);

// For programs: a list of
//   {"name": text, "value": ns, "reference": ns, "ratio": number, "aim": number}
// bench/ratios.py makes of them what ./dev bench reports, and says what the fields mean.
void write_json(std::ostream& out, std::span<const Result> results);

// A list of {"store": text, "thing": text, "bytes": number}.
void write_json(std::ostream& out, std::span<const Size> sizes);

}  // namespace airlock::bench
