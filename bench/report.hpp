#pragma once

#include <ostream>
#include <span>

#include "growth.hpp"
#include "harness.hpp"

namespace airlock::bench {

// For people: every row with its aim and whether it holds, at the end those that were missed.
void print_table(std::ostream& out, std::span<const Result> results);

// For programs: a list of
//   {"name": text, "value": ns, "reference": ns, "ratio": number, "spread": number, "aim": number, "holds": bool}
// value and reference are nanoseconds per operation, ratio and spread have no unit, the ratio is to be at most the aim.
// aim and holds are null in a row that is only for the reader. The name says also what the reference is.
void write_json(std::ostream& out, std::span<const Result> results);

// A list of {"store": text, "thing": text, "bytes": number}.
void write_json(std::ostream& out, std::span<const Size> sizes);

}  // namespace airlock::bench
