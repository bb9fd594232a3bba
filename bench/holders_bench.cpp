#include <variant>

#include "rows.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

constexpr std::uint32_t kLimit = 200'000;

// A gate with so many holders; one operation lets one more in and one out.
class Crowd : public Subject {
 public:
  explicit Crowd(std::uint32_t holders)
      : store_(open_store("memory:")),
        token_{.store = store_.id(), .gate = request_.gate},
        newcomer_(VisitorId::random()) {
    for (std::uint32_t i = 0; i < holders; ++i) holders_.push_back(enter(VisitorId::random()));
  }

  void check(std::uint64_t operations) override {
    const auto gate = store_.look(request_.gate);
    require(gate.has_value(), "the gate is known");
    require_grants(*gate, operations + holders_.size());
    require(released_ == operations, "every operation let one out");
    require(gate->counts.holders == holders_.size(), "as many hold as did");
  }

 protected:
  // A token without the name of the gate: what many holders keep is spread over little memory.
  struct Holder {
    VisitorId visitor;
    Fence fence;
    std::uint64_t place;
  };

  Holder enter(const VisitorId& visitor) {
    request_.visitor = visitor;
    const Answer answer = store_.admit(request_);
    const auto& granted = std::get<Granted>(answer);
    return {granted.token.visitor, granted.token.fence, granted.token.place};
  }

  void leave(const Holder& holder) {
    token_.visitor = holder.visitor;
    token_.fence = holder.fence;
    token_.place = holder.place;
    if (store_.release(token_)) ++released_;
  }

  std::vector<Holder>& holders() noexcept { return holders_; }
  VisitorId& newcomer() noexcept { return newcomer_; }

 private:
  Store store_;
  Request request_{.gate = "erp", .permits = permits(kLimit)};
  Token token_;
  VisitorId newcomer_;
  std::vector<Holder> holders_;
  std::uint64_t released_ = 0;
};

class NewestOut final : public Crowd {
 public:
  using Crowd::Crowd;
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) leave(enter(newcomer()));
  }
};

// Who left is the next to come.
class RandomOut final : public Crowd {
 public:
  using Crowd::Crowd;
  void run(std::uint64_t operations) override {
    const auto count = static_cast<std::uint32_t>(holders().size());
    for (std::uint64_t i = 0; i < operations; ++i) {
      const Holder entered = enter(newcomer());
      Holder& chosen = holders()[random_.below(count)];
      leave(chosen);
      newcomer() = chosen.visitor;
      chosen = entered;
    }
  }

 private:
  Random random_;
};

template <typename T>
Row compare_crowds(const char* name, double aim) {
  return {.name = name,
          .against = "10 holders",
          .aim = aim,
          .subject = [] { return std::make_unique<T>(100'000); },
          .reference = [] { return std::make_unique<T>(10); }};
}

}  // namespace

void add_holders_rows(std::vector<Row>& rows) {
  rows.push_back(compare_crowds<NewestOut>(
      "memory: acquire + release, 100 000 holders, the newest goes out", 2.0));
  rows.push_back(compare_crowds<RandomOut>(
      "memory: acquire + release, 100 000 holders, a random one goes out", 5.0));
}

}  // namespace airlock::bench
