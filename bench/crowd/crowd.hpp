#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

// One contestant of a crowd: so many clients at so few slots. bench/crowd.py starts it and computes the same from what
// every contestant writes, in whatever language:
//
//   CONTESTANT --clients 200 --slots 10 --hold-us 5000 --ms 1000 --out FOLDER [--at WHERE] [--orphan]
//
// Every client writes a dot to the standard output when it is ready, starts when the standard input ends, and asks,
// holds and goes for so long. In the end there are FOLDER/N.times, with a line "ASK IN OUT" for every admission, in
// nanoseconds of CLOCK_MONOTONIC, and FOLDER/N.cost, with "CPU_US CALLS": what the client used from start to end, and
// how often it called the store, or -1 where that cannot be counted.
//
// With --orphan there are two clients. The first one is killed inside, half a second after the start, and FOLDER/killed
// says when; the second one asks after a quarter of a second and may wait until three seconds after the kill.

namespace airlock::bench {

class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;

  // Waits for its turn.
  virtual void enter() = 0;
  virtual void leave() = 0;

  // Until now; -1: not known.
  [[nodiscard]] virtual std::int64_t calls() const = 0;

  // Whether enter() is a whole visit, which also holds and writes its line.
  [[nodiscard]] virtual bool is_whole() const { return false; }
};

struct Plan {
  std::string kind;
  int clients = 1;
  int slots = 1;
  std::int64_t hold_us = 0;
  std::int64_t ms = 1000;
  std::filesystem::path out;
  std::string at;  // A store, or a folder for files.
  bool orphan = false;
  bool threads = false;
};

// Makes the client of a number: in its own process, or thread.
using MakeClient = std::function<std::unique_ptr<Client>(int number)>;

// std::runtime_error, telling what is wrong with the words.
[[nodiscard]] Plan parse_plan(int argc, char** argv);

// Runs all clients to their end and returns the exit status.
int run_crowd(const Plan& plan, const MakeClient& make);

// For main(): what `run` returns, or 2 when it throws.
int or_say_why_not(int (*run)(int argc, char** argv), int argc, char** argv);

// CLOCK_MONOTONIC, in nanoseconds.
[[nodiscard]] std::int64_t monotonic_now();
void sleep_until(std::int64_t time);

}  // namespace airlock::bench
