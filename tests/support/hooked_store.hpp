#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "airlock/store.hpp"

namespace airlock {

// Passes every call on to another store, after a word to whoever wants to count, stop or throw.
class HookedStore final : public Store {
 public:
  using Hook = std::function<void(std::string_view step)>;

  explicit HookedStore(std::shared_ptr<Store> inner, Hook hook = {})
      : inner_(std::move(inner)), hook_(std::move(hook)) {}

  using Store::pause;
  using Store::renew;
  using Store::resume;
  using Store::survey;

  // From now on admit() answers with this and asks nobody.
  void refuse_with(const Refused& refusal) { refusal_ = refusal; }

  StoreId id() override { return inner_->id(); }
  Clock& clock() noexcept override { return inner_->clock(); }
  Answer admit(const Request& request) override {
    before("admit");
    if (refusal_) return *refusal_;
    return inner_->admit(request);
  }
  GroupAnswer admit_all(std::span<const Request> requests) override {
    return before("admit_all"), inner_->admit_all(requests);
  }
  bool leave(const GateName& gate, const VisitorId& visitor) override {
    return before("leave"), inner_->leave(gate, visitor);
  }
  void refund(const Request& request) override { before("refund"), inner_->refund(request); }
  void renew(std::span<RenewItem> items) override { before("renew"), inner_->renew(items); }
  bool release(const Token& token) override { return before("release"), inner_->release(token); }
  bool disown(const Token& token) override { return before("disown"), inner_->disown(token); }
  std::optional<Granted> adopt(const Token& token) override {
    return before("adopt"), inner_->adopt(token);
  }
  bool holds(const Token& token) override { return before("holds"), inner_->holds(token); }
  std::optional<GateView> look(const GateName& gate) override {
    return before("look"), inner_->look(gate);
  }
  std::vector<GateCounts> counts(std::span<const GateName> gates) override {
    return before("counts"), inner_->counts(gates);
  }
  std::vector<std::string> list() override { return before("list"), inner_->list(); }
  std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) override {
    return before("survey"), inner_->survey(include);
  }
  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    before("set_limit"), inner_->set_limit(gate, limit);
  }
  void pause(const GateName& gate, Duration duration, std::string_view reporter) override {
    before("pause"), inner_->pause(gate, duration, reporter);
  }
  bool resume(const GateName& gate, std::string_view reporter) override {
    return before("resume"), inner_->resume(gate, reporter);
  }
  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override {
    return before("revoke"), inner_->revoke(gate, visitor, how);
  }
  bool purge(const GateName& gate) override { return before("purge"), inner_->purge(gate); }
  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    return before("watch"), inner_->watch(gate, visitor, std::move(changed));
  }
  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    before("unwatch"), inner_->unwatch(gate, visitor);
  }
  Recheck recheck() const noexcept override { return inner_->recheck(); }
  void collect() override { before("collect"), inner_->collect(); }
  std::vector<Finding> examine() override { return before("examine"), inner_->examine(); }

 private:
  void before(std::string_view step) const {
    if (hook_) hook_(step);
  }

  std::shared_ptr<Store> inner_;
  Hook hook_;
  std::optional<Refused> refusal_;
};

}  // namespace airlock
