#include "contract/support/store_contract.hpp"

#include <utility>

namespace airlock::contract {
namespace {

// Stands for an answer that was not given.
Granted no_grant(const Question& question) {
  return {.token = {.gate = question.gate(), .visitor = question.visitor()}};
}

void fail(const Where& where, const Question& question, const char* expected,
          const Answer& answer) {
  ADD_FAILURE_AT(where.file, where.line)
      << question.name() << " was to be " << expected << " and is " << describe(answer);
}

template <typename View>
std::vector<std::string> labels(const std::vector<View>& views) {
  std::vector<std::string> labels;
  for (const auto& view : views) labels.push_back(view.label);
  return labels;
}

}  // namespace

Question StoreContract::visitor(std::string_view name) const {
  Question question = every_visitor;
  return question.named(std::string(name));
}

Granted StoreContract::enters(const Question& question, Where where) {
  const Answer answer = ask(question);
  const auto* granted = std::get_if<Granted>(&answer);
  if (granted != nullptr && !granted->repeated) return *granted;
  fail(where, question, "granted anew", answer);
  return no_grant(question);
}

Granted StoreContract::repeats(const Question& question, Where where) {
  const Answer answer = ask(question);
  const auto* granted = std::get_if<Granted>(&answer);
  if (granted != nullptr && granted->repeated) return *granted;
  fail(where, question, "granted as before", answer);
  return no_grant(question);
}

Queued StoreContract::waits(Question question, Where where) {
  const Answer answer = ask(question.joins());
  if (const auto* queued = std::get_if<Queued>(&answer)) return *queued;
  fail(where, question, "queued", answer);
  return {};
}

Refused StoreContract::is_refused(const Question& question, Reason reason, Where where) {
  const Answer answer = ask(question);
  const auto* refused = std::get_if<Refused>(&answer);
  if (refused != nullptr && refused->reason == reason) return *refused;
  fail(where, question, (std::string("refused: ") + to_text(reason)).c_str(), answer);
  return {};
}

void StoreContract::until_multiple_of(Duration period) {
  const Duration past = under_test_->now() % period;
  if (past > Duration(0)) after(period - past);
}

GateView StoreContract::look(const GateName& gate, Where where) {
  auto view = store().look(gate);
  if (view) return std::move(*view);
  ADD_FAILURE_AT(where.file, where.line) << "the store does not know " << gate.view();
  return {.name = gate.text()};
}

std::vector<std::string> StoreContract::holders(const GateName& gate) {
  const auto view = store().look(gate);
  return view ? labels(view->holders) : std::vector<std::string>{};
}

std::vector<std::string> StoreContract::handed() {
  std::vector<std::string> names;
  for (const auto& holder : look().holders)
    if (!holder.claimed) names.push_back(holder.label);
  return names;
}

std::vector<std::string> StoreContract::line(const GateName& gate) {
  const auto view = store().look(gate);
  return view ? labels(view->line) : std::vector<std::string>{};
}

std::string name_of_store(const ::testing::TestParamInfo<StoreFactory>& info) {
  return info.param.name;
}

// Once for all sources: their tests are one suite. Where a program has none of them, that is no fault.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);
INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::ValuesIn(all_stores()), name_of_store);

}  // namespace airlock::contract
