// Measures airlock: every row once.

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "growth.hpp"
#include "report.hpp"
#include "rows.hpp"

namespace airlock::bench {
namespace {

constexpr const char* kUsage =
    "usage: airlock_bench [--quick] [--filter TEXT] [--without TEXT] [--out FILE]\n"
    "       airlock_bench --list [--filter TEXT] [--without TEXT]\n"
    "       airlock_bench --sizes FILE\n"
    "\n"
    "  --quick        fewer rounds, less exact\n"
    "  --filter TEXT  only rows whose name contains TEXT\n"
    "  --without TEXT no rows whose name contains TEXT\n"
    "  --out FILE     also write the results there, as JSON\n"
    "  --list         only print the names of the rows\n"
    "  --sizes FILE   only write there how many bytes a holder, a waiter and a gate take, as "
    "JSON\n";

struct Options {
  Effort effort = kFull;
  std::string filter = {};
  std::string without = {};
  std::string out = {};
  std::string sizes = {};
  bool list = false;
  bool help = false;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Options parse(std::span<const char* const> arguments) {
  Options options;
  while (!arguments.empty()) {
    const std::string_view name = arguments.front();
    arguments = arguments.subspan(1);
    const auto value = [&]() -> std::string {
      if (arguments.empty()) throw UsageError(std::string(name) + " needs a value");
      const char* const text = arguments.front();
      arguments = arguments.subspan(1);
      return text;
    };
    if (name == "--quick") {
      options.effort = kQuick;
    } else if (name == "--filter") {
      options.filter = value();
    } else if (name == "--without") {
      options.without = value();
    } else if (name == "--out") {
      options.out = value();
    } else if (name == "--sizes") {
      options.sizes = value();
    } else if (name == "--list") {
      options.list = true;
    } else if (name == "--help") {
      options.help = true;
    } else {
      throw UsageError("unexpected: " + std::string(name));
    }
  }
  return options;
}

bool has(const Row& row, const std::string& text) {
  return row.title().find(text) != std::string::npos;
}

std::vector<Row> chosen_rows(const std::string& filter, const std::string& without) {
  std::vector<Row> rows;
  add_memory_rows(rows);
  add_rates_rows(rows);
  add_line_rows(rows);
  add_holders_rows(rows);
  add_gates_rows(rows);
  add_reads_rows(rows);
  add_waiting_rows(rows);
  add_keeper_rows(rows);
  add_shm_rows(rows);
#ifdef AIRLOCK_WITH_REDIS
  add_redis_rows(rows);
#endif
#ifdef AIRLOCK_COMMAND
  add_command_rows(rows);
#endif
  add_growth_rows(rows);
  std::erase_if(rows, [&](const Row& row) {
    return !has(row, filter) || (!without.empty() && has(row, without));
  });
  if (rows.empty()) throw UsageError("no row's name contains \"" + filter + "\"");
  return rows;
}

// A thread that does nothing. While there is only one, glibc locks a mutex without atomic instructions, so that what a
// row costs would depend on whether one before it had started a thread; programs that need locks have several.
class SecondThread {
 public:
  SecondThread()
      : thread_([](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any().wait(lock, stop, [] { return false; });
        }) {}

 private:
  std::jthread thread_;
};

std::vector<Result> measure_all(const std::vector<Row>& rows, const Effort& effort) {
  const SecondThread second_thread;
  std::vector<Result> results;
  for (const Row& row : rows) {
    std::cerr << results.size() + 1 << '/' << rows.size() << ' ' << row.name << " ..." << std::endl;
    try {
      results.push_back(measure(row, effort));
    } catch (const std::exception& error) {
      throw std::runtime_error("row \"" + row.title() + "\": " + error.what());
    }
  }
  return results;
}

// Appears at its name when it is complete; found to be impossible before anything is measured.
class OutFile {
 public:
  explicit OutFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    file_.open(path_ + ".part", std::ios::trunc);
    if (!file_)
      throw std::runtime_error("cannot write " + path_ + ".part: is there such a folder?");
  }

  template <typename T>
  void write(const std::vector<T>& results) {
    if (path_.empty()) return;
    write_json(file_, std::span<const T>(results));
    file_.close();
    if (!file_) throw std::runtime_error("cannot write all of " + path_ + ".part: disk full?");
    std::filesystem::rename(path_ + ".part", path_);
  }

 private:
  std::string path_;
  std::ofstream file_;
};

int run(std::span<const char* const> arguments) {
  const Options options = parse(arguments);
  if (options.help) {
    std::cout << kUsage;
    return 0;
  }
  if (!options.sizes.empty()) {
    OutFile(options.sizes).write(measure_sizes());
    return 0;
  }
  const std::vector<Row> rows = chosen_rows(options.filter, options.without);
  if (options.list) {
    for (const Row& row : rows) std::cout << row.title() << '\n';
    return 0;
  }
  OutFile out(options.out);
  const std::vector<Result> results = measure_all(rows, options.effort);
  print_table(std::cout, results);
  out.write(results);
  return 0;
}

}  // namespace
}  // namespace airlock::bench

int main(int argc, char** argv) {
  try {
    return airlock::bench::run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  } catch (const airlock::bench::UsageError& error) {
    std::cerr << "error: " << error.what() << "\n\n" << airlock::bench::kUsage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
