#include "crowd.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_nanosleep is POSIX
#include <unistd.h>

#include <array>
#include <barrier>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace airlock::bench {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kNsPerUs = 1'000;

struct Times {
  std::int64_t ask, in, out;
};

// Enough for every plot; who is alone can be in and out a million times.
constexpr std::size_t kMostTimes = 100'000;

std::int64_t cpu_us(int who) {
  rusage use{};
  getrusage(who, &use);
  return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1'000'000 + use.ru_utime.tv_usec +
         use.ru_stime.tv_usec;
}

std::int64_t cpu_us() { return cpu_us(RUSAGE_SELF) + cpu_us(RUSAGE_CHILDREN); }

void say_ready() {
  if (write(STDOUT_FILENO, ".", 1) != 1) _exit(1);
}

void await_start() {
  std::array<char, 16> ignored{};
  while (read(STDIN_FILENO, ignored.data(), ignored.size()) > 0) {
  }
}

std::vector<Times> visit(const Plan& plan, Client& client) {
  std::vector<Times> times;
  const std::int64_t hold = client.is_whole() ? 0 : plan.hold_us * kNsPerUs;
  const std::int64_t end = monotonic_now() + plan.ms * kNsPerMs;
  for (std::int64_t now = 0; now < end && times.size() < kMostTimes;) {
    const std::int64_t ask = monotonic_now();
    client.enter();
    const std::int64_t in = now = monotonic_now();
    if (hold > 0) {
      sleep_until(in + hold);
      now = monotonic_now();
    }
    times.push_back({ask, in, now});
    client.leave();
  }
  if (client.is_whole()) times.clear();
  return times;
}

void write_times(const Plan& plan, int number, std::span<const Times> times) {
  std::ofstream file(plan.out / (std::to_string(number) + ".times"), std::ios::app);
  for (const auto& [ask, in, out] : times) file << ask << ' ' << in << ' ' << out << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write to " + plan.out.string());
}

void write_cost(const Plan& plan, int number, std::int64_t cpu, std::int64_t calls) {
  std::ofstream(plan.out / (std::to_string(number) + ".cost")) << cpu << ' ' << calls << '\n';
}

// The first one stays inside; the second one asks once.
void visit_orphaned(const Plan& plan, int number, Client& client) {
  if (number > 0) sleep_until(monotonic_now() + 250 * kNsPerMs);
  const std::int64_t ask = monotonic_now();
  client.enter();
  const std::int64_t in = monotonic_now();
  if (number == 0) pause();
  write_times(plan, number, std::array{Times{ask, in, in}});
}

void be_process(const Plan& plan, int number, const MakeClient& make) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto client = make(number);
  say_ready();
  await_start();
  if (plan.orphan) return visit_orphaned(plan, number, *client);
  const std::int64_t cpu = cpu_us();
  const std::int64_t calls = client->calls();
  const std::vector<Times> times = visit(plan, *client);
  write_cost(plan, number, cpu_us() - cpu, calls < 0 ? -1 : client->calls() - calls);
  write_times(plan, number, times);
}

[[noreturn]] void be_child(const Plan& plan, int number, const MakeClient& make) {
  int status = 0;
  try {
    be_process(plan, number, make);
  } catch (const std::exception& error) {
    std::cerr << plan.kind << ", client " << number << ": " << error.what() << '\n';
    status = 1;
  }
  _exit(status);
}

void orphan(const Plan& plan, std::span<const pid_t> pids) {
  await_start();
  sleep_until(monotonic_now() + 500 * kNsPerMs);
  kill(pids[0], SIGKILL);
  const std::int64_t killed = monotonic_now();
  std::ofstream(plan.out / "killed") << killed << '\n';
  sleep_until(killed + 3'000 * kNsPerMs);
  kill(pids[1], SIGKILL);
}

int run_processes(const Plan& plan, const MakeClient& make) {
  std::vector<pid_t> pids;
  for (int number = 0; number < plan.clients; ++number) {
    pids.push_back(fork());
    if (pids.back() == 0) be_child(plan, number, make);
  }
  if (plan.orphan) orphan(plan, pids);
  int failures = 0;
  for (const pid_t pid : pids) {
    int status = 0;
    waitpid(pid, &status, 0);
    failures += status == 0 || plan.orphan ? 0 : 1;
  }
  return failures == 0 ? 0 : 1;
}

// What they use cannot be told apart: the first one tells it for all.
int run_threads(const Plan& plan, const MakeClient& make) {
  std::vector<std::unique_ptr<Client>> clients;
  clients.reserve(static_cast<std::size_t>(plan.clients));
  for (int number = 0; number < plan.clients; ++number) clients.push_back(make(number));
  std::vector<std::vector<Times>> times(clients.size());
  const auto calls = [&] {
    std::int64_t sum = 0;
    for (const auto& client : clients) sum += client->calls();
    return sum;
  };
  std::barrier start(plan.clients + 1);
  std::vector<std::jthread> threads;
  for (std::size_t number = 0; number < clients.size(); ++number) {
    threads.emplace_back([&, number] {
      say_ready();
      start.arrive_and_wait();
      times[number] = visit(plan, *clients[number]);
    });
  }
  await_start();
  const std::int64_t cpu_before = cpu_us();
  const std::int64_t calls_before = calls();
  start.arrive_and_wait();
  threads.clear();
  write_cost(plan, 0, cpu_us() - cpu_before, calls() - calls_before);
  for (std::size_t number = 0; number < times.size(); ++number) {
    write_times(plan, static_cast<int>(number), times[number]);
  }
  return 0;
}

}  // namespace

std::int64_t monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void sleep_until(std::int64_t time) {
  const timespec until{.tv_sec = time / 1'000'000'000, .tv_nsec = time % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

Plan parse_plan(int argc, char** argv) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  Plan plan;
  std::size_t at = 1;
  const auto value = [&]() -> std::string {
    if (at + 1 >= words.size()) throw std::runtime_error(std::string(words[at]) + " needs a value");
    return words[++at];
  };
  for (; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word == "--clients") {
      plan.clients = std::stoi(value());
    } else if (word == "--slots") {
      plan.slots = std::stoi(value());
    } else if (word == "--hold-us") {
      plan.hold_us = std::stoll(value());
    } else if (word == "--ms") {
      plan.ms = std::stoll(value());
    } else if (word == "--out") {
      plan.out = value();
    } else if (word == "--at") {
      plan.at = value();
    } else if (word == "--orphan") {
      plan.orphan = true;
    } else if (word == "--threads") {
      plan.threads = true;
    } else if (plan.kind.empty() && !word.starts_with("-")) {
      plan.kind = word;
    } else {
      throw std::runtime_error("unexpected: " + std::string(word));
    }
  }
  return plan;
}

int or_say_why_not(int (*run)(int argc, char** argv), int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 2;
}

int run_crowd(const Plan& plan, const MakeClient& make) {
  return plan.threads ? run_threads(plan, make) : run_processes(plan, make);
}

}  // namespace airlock::bench
