#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "store/forwarding_backend.hpp"

namespace airlock {

// Passes every call on to another store, after a word to whoever wants to count, stop or throw.
class HookedStore : public Store {
 public:
  using Hook = std::function<void(std::string_view step)>;

  explicit HookedStore(const Store& inner, Hook hook = {})
      : HookedStore(std::make_shared<Backend>(inner, std::move(hook))) {}

  // From now on admit() answers with this and asks nobody.
  void refuse_with(const Refused& refusal) const { backend_->refusal = refusal; }

 private:
  struct Backend final : internal::ForwardingBackend {
    Backend(const Store& inner, Hook to_call)
        : ForwardingBackend(internal::backend_of(inner)), hook(std::move(to_call)) {}

    Answer admit(const Request& request) override {
      if (!refusal) return ForwardingBackend::admit(request);
      before("admit");
      return *refusal;
    }
    bool watch(const GateName& gate, const VisitorId& visitor,
               std::function<void()> changed) override {
      before("watch");
      return ForwardingBackend::watch(gate, visitor, std::move(changed));
    }
    void unwatch(const GateName& gate, const VisitorId& visitor) override {
      before("unwatch");
      ForwardingBackend::unwatch(gate, visitor);
    }
    bool await(const GateName& gate, const VisitorId& visitor,
               const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override {
      return internal::Backend::await(gate, visitor, sleeper, deadline);
    }
    void before(std::string_view step) override {
      if (hook) hook(step);
    }

    Hook hook;
    std::optional<Refused> refusal;
  };

  explicit HookedStore(const std::shared_ptr<Backend>& backend)
      : Store(backend), backend_(backend) {}

  std::shared_ptr<Backend> backend_;
};

}  // namespace airlock
