#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "airlock/store.hpp"

namespace airlock {

// Passes every call on, and counts in memory that parent and child share how often a forked child
// has changed something that was there before.
class SharedCountStore final : public Store {
 public:
  explicit SharedCountStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  // What children gave back, left, renewed, resumed or stopped to watch.
  [[nodiscard]] int meddlings() const { return *count_; }

  using Store::pause;
  using Store::renew;
  using Store::resume;

  StoreId id() override { return inner_->id(); }
  Clock& clock() noexcept override { return inner_->clock(); }
  Answer admit(const Request& request) override { return inner_->admit(request); }
  GroupAnswer admit_all(std::span<const Request> requests) override {
    return inner_->admit_all(requests);
  }
  bool leave(const GateName& gate, const VisitorId& visitor) override {
    return note(), inner_->leave(gate, visitor);
  }
  void refund(const Request& request) override { inner_->refund(request); }
  void renew(std::span<RenewItem> items) override { note(), inner_->renew(items); }
  bool release(const Token& token) override { return note(), inner_->release(token); }
  bool disown(const Token& token) override { return note(), inner_->disown(token); }
  std::optional<Granted> adopt(const Token& token) override { return inner_->adopt(token); }
  std::optional<GateView> look(const GateName& gate) override { return inner_->look(gate); }
  std::vector<GateCounts> counts(std::span<const GateName> gates) override {
    return inner_->counts(gates);
  }
  std::vector<std::string> list() override { return inner_->list(); }
  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    inner_->set_limit(gate, limit);
  }
  void pause(const GateName& gate, Duration duration, std::string_view reporter) override {
    inner_->pause(gate, duration, reporter);
  }
  bool resume(const GateName& gate, std::string_view reporter) override {
    return note(), inner_->resume(gate, reporter);
  }
  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override {
    return inner_->revoke(gate, visitor, how);
  }
  bool purge(const GateName& gate) override { return inner_->purge(gate); }
  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    return inner_->watch(gate, visitor, std::move(changed));
  }
  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    note(), inner_->unwatch(gate, visitor);
  }
  Recheck recheck() const noexcept override { return inner_->recheck(); }
  void collect() override { inner_->collect(); }

 private:
  using Count = std::atomic<int>;

  void note() {
    if (getpid() != parent_) ++*count_;
  }

  static Count* shared_count() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return new (page) Count(0);
  }

  std::shared_ptr<Store> inner_;
  pid_t parent_ = getpid();
  Count* count_ = shared_count();  // Stays mapped: a child may outlive this.
};

}  // namespace airlock
