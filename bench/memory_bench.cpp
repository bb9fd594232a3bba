#include "rows.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

Request ask_for_permits() {
  return {.gate = "erp", .visitor = VisitorId::named("bench"), .permits = permits(10)};
}

// The visitor is new each time, as it is for callers that do not name one.
class FreshVisitor final : public AskOneGate {
 public:
  FreshVisitor() : AskOneGate(ask_for_permits()) {}
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      request().visitor = VisitorId::random();
      ask();
    }
  }
};

}  // namespace

void add_memory_rows(std::vector<Row>& rows) {
  const auto floor = [] { return std::make_unique<MutexAndClock>(2); };
  const char* const against = "two (std::mutex pair + steady_clock read)";
  rows.push_back({.name = "memory: acquire + release, visitor given",
                  .against = against,
                  .aim = 2.0,
                  .subject = [] { return std::make_unique<AskOneGate>(ask_for_permits()); },
                  .reference = floor});
  rows.push_back({.name = "memory: acquire + release, fresh random visitor",
                  .against = against,
                  .aim = 3.0,
                  .subject = [] { return std::make_unique<FreshVisitor>(); },
                  .reference = floor});
}

}  // namespace airlock::bench
