#include "airlock/health_guard.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "admission/worker.hpp"
#include "airlock/error.hpp"
#include "base/fork.hpp"
#include "base/hex.hpp"
#include "base/random.hpp"
#include "store/backend.hpp"

namespace airlock {
namespace {

// Each guard is a reporter of its own: one that recovers does not speak for the others.
std::string new_reporter() {
  std::string name = "health-";
  base::append_hex(name, base::random64(), 16);
  return name;
}

}  // namespace

class HealthGuard::Impl {
 public:
  Impl(const Store& store, const GateName& gate, HealthGuardOptions options)
      : store_(internal::backend_of(store)), gate_(gate), options_(std::move(options)) {
    worker_.emplace("airlock-health", store_->clock(), [this] { check(); });
    worker_->need(Instant{0});
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ~Impl() {
    if (generation_ != base::fork_generation()) return;  // A child's end says nothing.
    worker_->stop();
    if (!closed_) return;
    try {
      store_->resume(gate_, reporter_);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it ends by itself
    }
  }

  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

 private:
  [[nodiscard]] bool is_well() const noexcept {
    try {
      return options_.health() >= options_.threshold;
    } catch (...) {
      return false;
    }
  }

  void check() noexcept {
    const bool well = is_well();
    try {
      if (!well) {
        store_->pause(gate_, 3 * options_.interval, reporter_);
        closed_ = true;
      } else if (closed_) {
        store_->resume(gate_, reporter_);
        closed_ = false;
      }
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the next check tries again
    }
    worker_->plan(store_->clock().now() + options_.interval);
  }

  std::shared_ptr<internal::Backend> store_;
  GateName gate_;
  HealthGuardOptions options_;
  std::string reporter_ = new_reporter();
  std::uint64_t generation_ = base::fork_generation();
  std::atomic<bool> closed_ = false;
  std::optional<internal::Worker> worker_;
};

HealthGuard::HealthGuard(const Store& store, const GateName& gate,
                         const HealthGuardOptions& options) {
  if (!options.health) throw InvalidArgument("a health guard needs a health function");
  if (!(options.threshold > 0 && options.threshold <= 1)) {
    throw InvalidArgument("threshold " + std::to_string(options.threshold) +
                          ": above 0 and at most 1 is needed");
  }
  if (options.interval <= Duration(0) || options.interval > std::chrono::hours(24)) {
    throw InvalidArgument("interval " + to_text(options.interval) + ": above 0 and at most 1d");
  }
  impl_ = std::make_unique<Impl>(store, gate, options);
}

HealthGuard::~HealthGuard() = default;

bool HealthGuard::is_closed() const noexcept { return impl_->is_closed(); }

}  // namespace airlock
