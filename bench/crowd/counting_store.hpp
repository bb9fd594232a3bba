#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "airlock/store.hpp"

namespace airlock::bench {

// A store that counts the steps that are asked of it. Waiting and looking at the clock are none.
class CountingStore final : public Store {
 public:
  explicit CountingStore(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }

  [[nodiscard]] bool is_local() const noexcept override { return store_->is_local(); }
  [[nodiscard]] StoreId id() override { return store_->id(); }
  [[nodiscard]] Clock& clock() noexcept override { return store_->clock(); }
  [[nodiscard]] Answer admit(const Request& request) override { return step().admit(request); }
  [[nodiscard]] GroupAnswer admit_all(std::span<const Request> requests) override {
    return step().admit_all(requests);
  }
  bool leave(const GateName& gate, const VisitorId& visitor) override {
    return step().leave(gate, visitor);
  }
  void refund(const Request& request) override { step().refund(request); }
  void renew(std::span<RenewItem> items) override { step().renew(items); }
  bool release(const Token& token) override { return step().release(token); }
  void release_all(std::span<ReleaseItem> items) noexcept override { step().release_all(items); }
  bool disown(const Token& token) override { return step().disown(token); }
  [[nodiscard]] std::optional<Granted> adopt(const Token& token) override {
    return step().adopt(token);
  }
  [[nodiscard]] bool holds(const Token& token) override { return step().holds(token); }
  [[nodiscard]] std::optional<GateView> look(const GateName& gate) override {
    return step().look(gate);
  }
  [[nodiscard]] std::vector<GateCounts> counts(std::span<const GateName> gates) override {
    return step().counts(gates);
  }
  [[nodiscard]] std::vector<std::string> list() override { return step().list(); }
  [[nodiscard]] std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) override {
    return step().survey(include);
  }
  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    step().set_limit(gate, limit);
  }
  void pause(const GateName& gate, Duration duration, std::string_view reporter) override {
    step().pause(gate, duration, reporter);
  }
  bool resume(const GateName& gate, std::string_view reporter) override {
    return step().resume(gate, reporter);
  }
  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override {
    return step().revoke(gate, visitor, how);
  }
  bool purge(const GateName& gate) override { return step().purge(gate); }
  [[nodiscard]] bool watch(const GateName& gate, const VisitorId& visitor,
                           std::function<void()> changed) override {
    return store_->watch(gate, visitor, std::move(changed));
  }
  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    store_->unwatch(gate, visitor);
  }
  [[nodiscard]] bool await(const GateName& gate, const VisitorId& visitor,
                           const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override {
    return store_->await(gate, visitor, sleeper, deadline);
  }
  [[nodiscard]] Recheck recheck() const noexcept override { return store_->recheck(); }
  void collect() override { step().collect(); }
  [[nodiscard]] std::vector<Finding> examine() override { return step().examine(); }

 private:
  Store& step() noexcept {
    steps_.fetch_add(1, std::memory_order_relaxed);
    return *store_;
  }

  std::shared_ptr<Store> store_;
  std::atomic<std::int64_t> steps_ = 0;
};

}  // namespace airlock::bench
