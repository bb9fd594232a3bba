// The contestants of a crowd that are C++: airlock, what the system has, and commands.

#include <map>
#include <stdexcept>

#include "contestants.hpp"

namespace airlock::bench {
namespace {

int run(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "inside") return be_inside(argc, argv);
  const Plan plan = parse_plan(argc, argv);
  const std::map<std::string, MakeClient (*)(const Plan&)> kinds = {
      {"airlock", airlock_clients},
      {"counting_semaphore", standard_clients},
      {"posix", posix_clients},
      {"sysv", sysv_clients},
      {"flock", flock_clients},
      {"airlock-command", airlock_command_clients},
      {"flock-command", flock_command_clients},
      {"sem-command", sem_command_clients},
  };
  const auto kind = kinds.find(plan.kind);
  if (kind == kinds.end()) throw std::runtime_error("no such contestant: " + plan.kind);
  return run_crowd(plan, kind->second(plan));
}

}  // namespace
}  // namespace airlock::bench

int main(int argc, char** argv) {
  return airlock::bench::or_say_why_not(airlock::bench::run, argc, argv);
}
