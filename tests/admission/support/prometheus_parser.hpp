#pragma once

#include <map>
#include <string>
#include <vector>

namespace airlock::prometheus {

// One line of measurement.
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;  // Unescaped.
  double value = 0;

  friend bool operator==(const Sample&, const Sample&) = default;
};

struct Family {
  std::string name;
  std::string type;
  std::string help;
  std::vector<Sample> samples;
};

// Reads the text format and takes nothing that Prometheus does not: every family once, its HELP and
// TYPE before its samples, every series once, names and escapes well formed, histograms complete
// and growing. std::runtime_error with the line otherwise.
[[nodiscard]] std::vector<Family> parse(const std::string& text);

}  // namespace airlock::prometheus
