// Boost.Interprocess as a contestant of a crowd: a program of its own, because Boost may not be there.

#include <unistd.h>

#include <boost/interprocess/sync/named_semaphore.hpp>
#include <boost/version.hpp>
#include <iostream>

#include "crowd.hpp"

namespace airlock::bench {
namespace {

namespace ipc = boost::interprocess;

class BoostClient final : public Client {
 public:
  explicit BoostClient(const std::string& name) : semaphore_(ipc::open_only, name.c_str()) {}
  void enter() override {
    semaphore_.wait();
    ++calls_;
  }
  void leave() override {
    semaphore_.post();
    ++calls_;
  }
  [[nodiscard]] std::int64_t calls() const override { return calls_; }

 private:
  ipc::named_semaphore semaphore_;
  std::int64_t calls_ = 0;
};

int run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::cout << BOOST_LIB_VERSION << '\n';
    return 0;
  }
  const Plan plan = parse_plan(argc, argv);
  const std::string name = "airlock-crowd-" + std::to_string(getpid());
  const ipc::named_semaphore semaphore(ipc::create_only, name.c_str(),
                                       static_cast<unsigned>(plan.slots));
  const int status = run_crowd(plan, [&](int) { return std::make_unique<BoostClient>(name); });
  ipc::named_semaphore::remove(name.c_str());
  return status;
}

}  // namespace
}  // namespace airlock::bench

int main(int argc, char** argv) {
  return airlock::bench::or_say_why_not(airlock::bench::run, argc, argv);
}
