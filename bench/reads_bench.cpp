#include <sstream>
#include <string>
#include <variant>

#include "airlock/metrics.hpp"
#include "rows.hpp"
#include "subjects.hpp"
#ifdef AIRLOCK_WITH_REDIS
#include "redis_subjects.hpp"
#endif

namespace airlock::bench {
namespace {

// Many gates with a holder each, so that none is forgotten. One operation goes over all of them.
class ManyGates : public Subject {
 public:
  ManyGates(Store store, std::uint32_t gates) : store_(std::move(store)) {
    for (std::uint32_t i = 0; i < gates; ++i) {
      gates_.emplace_back("order:" + std::to_string(i));
      (void)enter(gates_.back(), VisitorId::random());
    }
  }

  void check(std::uint64_t /*operations*/) override {
    require(released_ % gates_.size() == 0, "every admission was given back");
    require(found_ == expected_, "every gate was found");
  }

 protected:
  void visit_all() {
    for (const GateName& gate : gates_) {
      if (store_.release(enter(gate, visitor_))) ++released_;
    }
  }
  void found(std::size_t gates) {
    found_ += gates;
    expected_ += gates_.size();
  }
  [[nodiscard]] const Store& store() const noexcept { return store_; }

 private:
  Token enter(const GateName& gate, const VisitorId& visitor) {
    const Answer answer = store_.admit({.gate = gate, .visitor = visitor, .permits = permits(2)});
    return std::get<Granted>(answer).token;
  }

  Store store_;
  std::vector<GateName> gates_;
  VisitorId visitor_ = VisitorId::random();
  std::uint64_t released_ = 0;
  std::uint64_t found_ = 0;
  std::uint64_t expected_ = 0;
};

class Visits final : public ManyGates {
 public:
  using ManyGates::ManyGates;
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) visit_all();
  }
};

class Surveys final : public ManyGates {
 public:
  using ManyGates::ManyGates;
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) found(store().survey().size());
  }
};

class Scrapes final : public ManyGates {
 public:
  using ManyGates::ManyGates;
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      std::ostringstream text;
      write_metrics(store(), text);
      found(count(text.str(), "\nairlock_holders{"));
    }
  }

 private:
  static std::size_t count(const std::string& text, std::string_view what) {
    std::size_t times = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++times;
    }
    return times;
  }
};

// One gate with so many holders.
class ReadOneGate : public Subject {
 public:
  explicit ReadOneGate(std::uint32_t holders) : store_(open_store("memory:")), holders_(holders) {
    for (std::uint32_t i = 0; i < holders; ++i) {
      const Answer answer = store_.admit(
          {.gate = "erp", .visitor = VisitorId::random(), .permits = permits(holders)});
      token_ = std::get<Granted>(answer).token;
    }
  }
  void check(std::uint64_t operations) override {
    require(right_ == operations, "the answer is right");
  }

 protected:
  [[nodiscard]] const Store& store() const noexcept { return store_; }
  [[nodiscard]] const Token& token() const noexcept { return token_; }
  [[nodiscard]] std::uint32_t holders() const noexcept { return holders_; }
  void note(bool is_right) noexcept { right_ += is_right ? 1 : 0; }

 private:
  Store store_;
  std::uint32_t holders_;
  Token token_{.gate = "erp"};
  std::uint64_t right_ = 0;
};

class SurveyOne final : public ReadOneGate {
 public:
  using ReadOneGate::ReadOneGate;
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      const GateView gate = store().survey().at(0).gate;
      note(gate.counts.holders == holders() && gate.holders.empty());
    }
  }
};

class AskForOneLease final : public ReadOneGate {
 public:
  using ReadOneGate::ReadOneGate;
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) note(store().holds(token()));
  }
};

Store in_memory() { return open_store("memory:"); }

constexpr const char* kDecisions = "acquire + release at each of them";

}  // namespace

void add_reads_rows(std::vector<Row>& rows) {
  static constexpr std::uint32_t kMany = 100'000;
  rows.push_back({.name = "memory: survey of 100 000 gates",
                  .against = kDecisions,
                  .aim = 1.5,
                  .subject = [] { return std::make_unique<Surveys>(in_memory(), kMany); },
                  .reference = [] { return std::make_unique<Visits>(in_memory(), kMany); }});
  rows.push_back({.name = "memory: metrics of 100 000 gates",
                  .against = kDecisions,
                  .aim = {},
                  .subject = [] { return std::make_unique<Scrapes>(in_memory(), kMany); },
                  .reference = [] { return std::make_unique<Visits>(in_memory(), kMany); }});
  rows.push_back({.name = "memory: survey of a gate with 100 000 holders",
                  .against = "10 holders",
                  .aim = 1.5,
                  .subject = [] { return std::make_unique<SurveyOne>(kMany); },
                  .reference = [] { return std::make_unique<SurveyOne>(10); }});
  rows.push_back({.name = "memory: whether a token holds, 100 000 holders",
                  .against = "10 holders",
                  .aim = 2.0,
                  .subject = [] { return std::make_unique<AskForOneLease>(kMany); },
                  .reference = [] { return std::make_unique<AskForOneLease>(10); }});
#ifdef AIRLOCK_WITH_REDIS
  static constexpr std::uint32_t kSome = 500;
  const auto on_server = [](const char* prefix) {
    return open_store(redis_uri(Way::unix_socket) + "?prefix=" + prefix);
  };
  rows.push_back(
      {.name = "redis: survey of 500 gates over a Unix socket",
       .against = kDecisions,
       .aim = 1.0,
       .subject = [=] { return std::make_unique<Surveys>(on_server("surveyed"), kSome); },
       .reference = [=] { return std::make_unique<Visits>(on_server("visited"), kSome); },
       .time = Time::wall});
#endif
}

}  // namespace airlock::bench
