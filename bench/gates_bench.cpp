#include <array>
#include <charconv>
#include <string_view>
#include <variant>

#include "rows.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

// So many gates; one operation goes in and out of a random one. Of many gates the store forgets those that are idle, so
// that some visits make theirs again. A name is put together each time, as for a keyed lock, which costs the same for few
// gates and for many.
class RandomGate final : public Subject {
 public:
  explicit RandomGate(std::uint32_t gates) : store_(open_store("memory:")), gates_(gates) {
    for (std::uint32_t number = 0; number < gates; ++number) visit(number);
  }

  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) visit(random_.below(gates_));
  }

  void check(std::uint64_t operations) override {
    require(released_ == operations + gates_, "every admission was given back");
    require(store_.list().size() <= gates_, "there are at most as many gates as the row says");
  }

 private:
  static GateName name_of(std::uint32_t number) {
    std::array<char, 16> text = {'o', 'r', 'd', 'e', 'r', ':'};
    constexpr std::uint32_t kSameLength = 10'000'000;
    const auto end = std::to_chars(&text[6], text.data() + text.size(), kSameLength + number).ptr;
    return std::string_view(text.data(), static_cast<std::size_t>(end - text.data()));
  }

  void visit(std::uint32_t number) {
    const Answer answer =
        store_.admit({.gate = name_of(number), .visitor = visitor_, .permits = permits(1)});
    if (store_.release(std::get<Granted>(answer).token)) ++released_;
  }

  Store store_;
  std::uint32_t gates_;
  VisitorId visitor_ = VisitorId::random();
  Random random_;
  std::uint64_t released_ = 0;
};

}  // namespace

void add_gates_rows(std::vector<Row>& rows) {
  struct Growth {
    std::uint32_t gates;
    const char* text;
  };
  for (const auto& [gates, text] :
       {Growth{100, "100"}, Growth{10'000, "10 000"}, Growth{100'000, "100 000"}}) {
    rows.push_back(
        {.name = std::string("memory: acquire + release, a random one of ") + text + " gates",
         .against = "one gate",
         .aim = {},
         .subject = [count = gates] { return std::make_unique<RandomGate>(count); },
         .reference = [] { return std::make_unique<RandomGate>(1); }});
  }
}

}  // namespace airlock::bench
