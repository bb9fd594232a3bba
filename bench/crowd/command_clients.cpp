#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "contestants.hpp"

namespace airlock::bench {
namespace {

// All of a visit is one command; it is over when that returns.
class CommandClient final : public Client {
 public:
  CommandClient(const Plan& plan, int number, std::vector<std::string> words)
      : words_(std::move(words)) {
    words_.push_back(std::filesystem::read_symlink("/proc/self/exe"));
    words_.emplace_back("inside");
    words_.push_back(plan.out / (std::to_string(number) + ".times"));
    words_.push_back(std::to_string(plan.hold_us));
    words_.emplace_back();
  }

  void enter() override {
    words_.back() = std::to_string(monotonic_now());
    std::vector<char*> arguments;
    arguments.reserve(words_.size() + 1);
    for (std::string& word : words_) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    int status = -1;
    if (posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0) {
      waitpid(pid, &status, 0);
    }
    if (status != 0) throw std::runtime_error(words_[0] + " failed");
  }
  void leave() override {}
  [[nodiscard]] std::int64_t calls() const override { return -1; }
  [[nodiscard]] bool is_whole() const override { return true; }

 private:
  std::vector<std::string> words_;
};

}  // namespace

MakeClient airlock_command_clients(const Plan& plan) {
#ifndef AIRLOCK_COMMAND
#define AIRLOCK_COMMAND "airlock"
#endif
  return [plan](int number) {
    return std::make_unique<CommandClient>(
        plan, number,
        std::vector<std::string>{AIRLOCK_COMMAND, "--store", "shm:crowd?dir=" + plan.at, "run",
                                 "--slots", std::to_string(plan.slots), "crowd", "--"});
  };
}

MakeClient flock_command_clients(const Plan& plan) {
  return [plan](int number) {
    return std::make_unique<CommandClient>(
        plan, number,
        std::vector<std::string>{"flock", plan.at + "/slot" + std::to_string(number % plan.slots)});
  };
}

MakeClient sem_command_clients(const Plan& plan) {
  return [plan](int number) {
    return std::make_unique<CommandClient>(
        plan, number,
        std::vector<std::string>{"sem", "--fg", "-j", std::to_string(plan.slots), "--id",
                                 std::filesystem::path(plan.at).filename()});
  };
}

int be_inside(int argc, char** argv) {
  const std::int64_t in = monotonic_now();
  if (argc != 5) throw std::runtime_error("inside FILE HOLD_US ASK");
  const std::int64_t hold_us = std::stoll(argv[3]);
  if (hold_us > 0) sleep_until(in + hold_us * 1'000);
  std::ofstream(argv[2], std::ios::app) << argv[4] << ' ' << in << ' ' << monotonic_now() << '\n';
  return 0;
}

}  // namespace airlock::bench
