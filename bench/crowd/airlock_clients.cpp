#include <optional>
#include <stdexcept>

#include "airlock/airlock_gate.hpp"
#include "airlock/lease.hpp"
#include "contestants.hpp"
#include "counting_store.hpp"

namespace airlock::bench {
namespace {

class AirlockClient final : public Client {
 public:
  AirlockClient(CountingStore store, const Plan& plan, bool counts)
      : store_(std::move(store)),
        airlock_(
            store_, "crowd",
            {.limit = static_cast<std::uint32_t>(plan.slots), .max_wait = std::chrono::minutes(1)}),
        counts_(counts) {}

  void enter() override {
    Outcome<Lease> lease = airlock_.enter();
    if (!lease) throw std::runtime_error("refused");
    lease_ = std::move(*lease);
  }
  void leave() override { lease_.release(); }
  [[nodiscard]] std::int64_t calls() const override { return counts_ ? store_.steps() : 0; }

 private:
  CountingStore store_;
  Airlock airlock_;
  Lease lease_;
  bool counts_;
};

}  // namespace

MakeClient airlock_clients(const Plan& plan) {
  std::optional<CountingStore> shared;
  if (plan.threads) shared.emplace(open_store(plan.at));
  return [plan, shared](int number) -> std::unique_ptr<Client> {
    const CountingStore store = shared ? *shared : CountingStore(open_store(plan.at));
    (void)store.look("crowd");  // Connects.
    return std::make_unique<AirlockClient>(store, plan, !shared || number == 0);
  };
}

}  // namespace airlock::bench
