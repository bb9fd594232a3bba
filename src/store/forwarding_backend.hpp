#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/backend.hpp"

namespace airlock::internal {

// Passes every call on to another backend. Those who count, stop or fail steps derive from it.
//
// before() and after() meet the steps that ask or change the store's state, by name, and may throw:
// the step then does not happen, or its caller does not learn of it. They do not meet id, clock,
// is_local, timeout, recheck_intervals, watch, unwatch, await and release_soon.
class ForwardingBackend : public Backend {
 private:
  template <typename Step>
  auto perform(std::string_view name, Step step) {
    before(name);
    if constexpr (std::is_void_v<decltype(step())>) {
      step();
      after(name);
    } else {
      auto result = step();
      after(name);
      return result;
    }
  }

 public:
  explicit ForwardingBackend(std::shared_ptr<Backend> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] bool is_local() const noexcept override { return inner_->is_local(); }
  [[nodiscard]] Duration timeout() const noexcept override { return inner_->timeout(); }
  [[nodiscard]] StoreId id() override { return inner_->id(); }
  [[nodiscard]] Clock& clock() noexcept override { return inner_->clock(); }

  [[nodiscard]] Answer admit(const Request& request) override {
    return perform("admit", [&] { return inner_->admit(request); });
  }
  [[nodiscard]] GroupAnswer admit_all(std::span<const Request> requests) override {
    return perform("admit_all", [&] { return inner_->admit_all(requests); });
  }
  bool leave(const GateName& gate, const VisitorId& visitor) override {
    return perform("leave", [&] { return inner_->leave(gate, visitor); });
  }
  bool mark_absent(const GateName& gate, const VisitorId& visitor) override {
    return perform("mark_absent", [&] { return inner_->mark_absent(gate, visitor); });
  }
  void refund(const Request& request) override {
    perform("refund", [&] { inner_->refund(request); });
  }
  void renew(std::span<RenewItem> items) override {
    renew_copy(items, [&](std::span<RenewItem> copy) { inner_->renew(copy); });
  }
  void renew_within(std::span<RenewItem> items, Duration at_most) override {
    renew_copy(items, [&](std::span<RenewItem> copy) { inner_->renew_within(copy, at_most); });
  }
  bool release(const Token& token) override {
    return perform("release", [&] { return inner_->release(token); });
  }
  void release_all(std::span<ReleaseItem> items) noexcept override {
    for (ReleaseItem& item : items) {
      try {
        perform("release", [&] { inner_->release_all({&item, 1}); });
      } catch (const Error&) {
        item.is_over = false;
      }
    }
  }
  bool release_soon(const Token& token, Instant until, bool by_next_step) noexcept override {
    return inner_->release_soon(token, until, by_next_step);
  }
  bool disown(const Token& token) override {
    return perform("disown", [&] { return inner_->disown(token); });
  }
  [[nodiscard]] std::optional<Granted> adopt(const Token& token) override {
    return perform("adopt", [&] { return inner_->adopt(token); });
  }
  [[nodiscard]] bool holds(const Token& token) override {
    return perform("holds", [&] { return inner_->holds(token); });
  }
  [[nodiscard]] std::optional<GateView> look(const GateName& gate) override {
    return perform("look", [&] { return inner_->look(gate); });
  }
  [[nodiscard]] std::vector<GateCounts> counts(std::span<const GateName> gates) override {
    return perform("counts", [&] { return inner_->counts(gates); });
  }
  [[nodiscard]] std::vector<std::string> list() override {
    return perform("list", [&] { return inner_->list(); });
  }
  [[nodiscard]] std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) override {
    return perform("survey", [&] { return inner_->survey(include); });
  }
  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    perform("set_limit", [&] { inner_->set_limit(gate, limit); });
  }
  void pause(const GateName& gate, Duration duration, std::string_view reporter) override {
    perform("pause", [&] { inner_->pause(gate, duration, reporter); });
  }
  bool resume(const GateName& gate, std::string_view reporter) override {
    return perform("resume", [&] { return inner_->resume(gate, reporter); });
  }
  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override {
    return perform("revoke", [&] { return inner_->revoke(gate, visitor, how); });
  }
  bool purge(const GateName& gate) override {
    return perform("purge", [&] { return inner_->purge(gate); });
  }
  [[nodiscard]] bool watch(const GateName& gate, const VisitorId& visitor,
                           std::function<void()> changed) override {
    return inner_->watch(gate, visitor, std::move(changed));
  }
  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    inner_->unwatch(gate, visitor);
  }
  [[nodiscard]] bool await(const GateName& gate, const VisitorId& visitor,
                           const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override {
    return inner_->await(gate, visitor, sleeper, deadline);
  }
  [[nodiscard]] RecheckIntervals recheck_intervals() const noexcept override {
    return inner_->recheck_intervals();
  }
  void collect() override {
    perform("collect", [&] { inner_->collect(); });
  }
  [[nodiscard]] std::vector<Finding> examine() override {
    return perform("examine", [&] { return inner_->examine(); });
  }

 protected:
  virtual void before(std::string_view /*step*/) {}
  virtual void after(std::string_view /*step*/) {}

  [[nodiscard]] Backend& inner() const noexcept { return *inner_; }

 private:
  // A caller that does not learn of its step must not find the results in its items. Where only a
  // part of the step failed, it does.
  template <typename Step>
  void renew_copy(std::span<RenewItem> items, Step step) {
    std::vector<RenewItem> copy(items.begin(), items.end());
    const auto hand_on = [&] { std::ranges::copy(copy, items.begin()); };
    perform("renew", [&] {
      try {
        step(copy);
      } catch (const StoreError&) {
        hand_on();
        throw;
      }
    });
    hand_on();
  }

  const std::shared_ptr<Backend> inner_;
};

}  // namespace airlock::internal
