#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

// What `./dev chaos` wants of a long test (tests/chaos/run.py).

namespace airlock::testing {

// `./dev chaos --long`.
[[nodiscard]] inline bool takes_its_time() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  return std::getenv("AIRLOCK_LONG") != nullptr;
}

// A row of the table: what was done to the store, and what it got wrong. What a scenario does not
// measure stays empty.
struct ChaosRow {
  using Count = std::optional<std::uint64_t>;

  std::string scenario;
  std::uint64_t faults = 0;
  std::uint64_t operations = 0;
  Count over_admissions = {};   // More inside than the limit, or a lease gone before its time.
  Count leaks = {};             // Still taken, or in the line, though nobody is there.
  Count hangs = {};             // Calls that do not return, gates that let nobody in.
  Count order_violations = {};  // Let in before somebody who came first.
  Count late_returns = {};      // Calls that outstay their deadline.

  // Expects zeros, and writes it as a line of JSON to the file that AIRLOCK_CHAOS_REPORT names.
  void report() const {
    std::ostringstream line;
    line << "{\"scenario\": \"" << scenario << "\", \"faults\": " << faults
         << ", \"operations\": " << operations;
    for (const auto& [name, count] : columns()) {
      line << ", \"" << name << "\": " << (count ? std::to_string(*count) : "null");
      EXPECT_EQ(count.value_or(0), 0U) << scenario << ": " << name;
    }
    line << "}\n";
    std::cout << line.str() << std::flush;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
    const char* const file = std::getenv("AIRLOCK_CHAOS_REPORT");
    if (file != nullptr) std::ofstream(file, std::ios::app) << line.str();
  }

  // Another round of the same.
  ChaosRow& operator+=(const ChaosRow& other) {
    faults += other.faults;
    operations += other.operations;
    add(over_admissions, other.over_admissions);
    add(leaks, other.leaks);
    add(hangs, other.hangs);
    add(order_violations, other.order_violations);
    add(late_returns, other.late_returns);
    return *this;
  }

 private:
  struct Column {
    const char* name;
    Count count;
  };

  [[nodiscard]] std::array<Column, 5> columns() const {
    return {{{"over_admissions", over_admissions},
             {"leaks", leaks},
             {"hangs", hangs},
             {"order_violations", order_violations},
             {"late_returns", late_returns}}};
  }
  static void add(Count& count, const Count& more) {
    if (more) count = count.value_or(0) + *more;
  }
};

}  // namespace airlock::testing
