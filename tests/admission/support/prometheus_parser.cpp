#include "admission/support/prometheus_parser.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace airlock::prometheus {
namespace {

[[noreturn]] void fail(const std::string& why, const std::string& line) {
  throw std::runtime_error(why + ": " + line);
}

double parse_value(const std::string& text, const std::string& line) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) fail("not a number", line);
  return value;
}

std::string unescaped(const std::string& text) {
  std::string out;
  bool escape = false;
  for (const char byte : text) {
    if (byte == '\\' && !escape) {
      escape = true;
      continue;
    }
    out += escape && byte == 'n' ? '\n' : byte;
    escape = false;
  }
  return out;
}

std::map<std::string, std::string> parse_labels(std::string text, const std::string& line) {
  static const std::regex kLabel(R"re(([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$))re");
  std::map<std::string, std::string> labels;
  std::smatch match;
  while (!text.empty()) {
    if (!std::regex_search(text, match, kLabel, std::regex_constants::match_continuous)) {
      fail("malformed labels", line);
    }
    if (!labels.emplace(match[1], unescaped(match[2])).second) fail("a label twice", line);
    text = match.suffix();
  }
  return labels;
}

Sample parse_sample(const std::string& line) {
  static const std::regex kSample(R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+))re");
  std::smatch match;
  if (!std::regex_match(line, match, kSample)) fail("malformed sample", line);
  return {match[1], parse_labels(match[2], line), parse_value(match[3], line)};
}

bool belongs(const Sample& sample, const Family& family) {
  if (family.type != "histogram") return sample.name == family.name;
  return sample.name == family.name + "_bucket" || sample.name == family.name + "_sum" ||
         sample.name == family.name + "_count";
}

// The samples of a histogram with these labels, but for `le`: buckets, then sum, then count.
void check_series(const std::vector<Sample>& series, const std::string& name) {
  double bound = -std::numeric_limits<double>::infinity();
  double below = 0;
  for (std::size_t i = 0; i + 2 < series.size(); ++i) {
    if (!series[i].labels.contains("le")) fail("a bucket without bound", name);
    const double next = parse_value(series[i].labels.at("le"), name);
    if (next <= bound || series[i].value < below) fail("buckets do not grow", name);
    bound = next;
    below = series[i].value;
  }
  if (bound != std::numeric_limits<double>::infinity()) fail("no bucket +Inf", name);
  if (series[series.size() - 2].name != name + "_sum") fail("no sum", name);
  if (series.back().name != name + "_count") fail("no count", name);
  if (series.back().value != below) fail("count differs from bucket +Inf", name);
}

void check_histogram(const Family& family) {
  std::map<std::map<std::string, std::string>, std::vector<Sample>> all;
  for (const Sample& sample : family.samples) {
    auto labels = sample.labels;
    labels.erase("le");
    all[labels].push_back(sample);
  }
  for (const auto& [labels, series] : all) {
    if (series.size() < 3) fail("an incomplete histogram", family.name);
    check_series(series, family.name);
  }
}

void check(const Family& family) {
  if (family.type == "histogram") check_histogram(family);
  if (family.type == "counter" && !family.name.ends_with("_total")) fail("not _total", family.name);
  std::set<std::pair<std::string, std::map<std::string, std::string>>> seen;
  for (const Sample& sample : family.samples) {
    if (!seen.emplace(sample.name, sample.labels).second) fail("a series twice", family.name);
  }
}

class Parser {
 public:
  void take(const std::string& line) {
    static const std::regex kHelp("# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
    static const std::regex kType("# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)");
    std::smatch match;
    if (std::regex_match(line, match, kHelp)) {
      begin(match[1], match[2], line);
    } else if (std::regex_match(line, match, kType)) {
      if (families.empty() || families.back().name != match[1]) fail("TYPE without HELP", line);
      if (!families.back().type.empty()) fail("TYPE twice", line);
      families.back().type = match[2];
    } else {
      const Sample sample = parse_sample(line);
      if (families.empty() || families.back().type.empty()) fail("a sample without TYPE", line);
      if (!belongs(sample, families.back())) fail("a sample outside its family", line);
      families.back().samples.push_back(sample);
    }
  }

  std::vector<Family> families;

 private:
  void begin(const std::string& name, const std::string& help, const std::string& line) {
    const auto same = [&](const Family& family) { return family.name == name; };
    if (std::ranges::any_of(families, same)) fail("a family twice", line);
    families.push_back({name, "", help, {}});
  }
};

}  // namespace

std::vector<Family> parse(const std::string& text) {
  if (!text.ends_with('\n')) fail("the last line does not end", text);
  Parser parser;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) parser.take(line);
  for (const Family& family : parser.families) check(family);
  return parser.families;
}

}  // namespace airlock::prometheus
