#include "store/redis/redis_store.hpp"

#include <atomic>
#include <utility>

#include "base/per_process.hpp"
#include "store/redis/admin.hpp"
#include "store/redis/admissions.hpp"
#include "store/redis/gate_reader.hpp"
#include "store/redis/leases.hpp"
#include "store/redis/notify/notifications.hpp"
#include "store/redis/store_time.hpp"
#include "store/servers.hpp"

namespace airlock::redis {
namespace {

// What has become of passwords is of this process: a child of it reads them itself.
Options for_this_process(Options options) {
  const auto prepare = [&](Address& address) {
    address.timeout = options.timeout;
    if (address.password_file.empty()) return;
    address.secret = std::make_shared<Secret>(address.password_file, address.password);
  };
  prepare(options.address);
  for (Address& seed : options.seeds) prepare(seed);
  return options;
}

// What one process has of a store: its servers, and the parts of the store that use them.
struct Process {
  explicit Process(const Options& of_store) : options(for_this_process(of_store)) {}

  const Options options;
  const std::unique_ptr<Topology> topology = Topology::make(options);
  Client client{*topology, options};
  Notifications notifications{*topology, options};
  Identity identity{client, options};
  StepCalls calls{options, identity};
  StepRunner runner{options, calls, client, notifications};

  Leases leases{options, calls, runner, client, identity};
  Admissions admissions{calls, runner, identity, notifications, leases};
  GateReader reader{options, calls, runner, client, leases};
  Admin admin{options, calls, runner, client, notifications};
};

// Passes each step on to the part that makes it.
class RedisStore final : public internal::Backend, public Servers {
 public:
  explicit RedisStore(Options options) : options_(std::move(options)) {}

  ~RedisStore() override {
    if (used_in_ != base::fork_generation()) return;
    process().leases.release_at_last();
    process().topology->stop();
  }

  bool is_local() const noexcept override { return false; }
  // It is real time, of which a clock that a test steps says nothing.
  Duration timeout() const noexcept override {
    return options_.stepped != nullptr ? kForever : options_.timeout;
  }
  StoreId id() override { return process().identity.get(step_deadline(options_)); }
  Clock& clock() noexcept override { return clock_of(options_); }

  Answer admit(const Request& request) override { return process().admissions.admit(request); }
  void admit_each(std::span<AdmitItem> items) noexcept override try {
    process().admissions.admit_each(items);
  } catch (const std::exception&) {
    Backend::admit_each(items);  // Which fails each of them.
  }
  GroupAnswer admit_all(std::span<const Request> requests) override {
    return process().admissions.admit_all(requests);
  }
  bool leave(const GateName& gate, const VisitorId& visitor) override {
    return process().admissions.leave(gate, visitor);
  }
  bool mark_absent(const GateName& gate, const VisitorId& visitor) override {
    return process().admissions.mark_absent(gate, visitor);
  }
  void refund(const Request& request) override { process().admissions.refund(request); }

  bool watch(const GateName& gate, const VisitorId& visitor,
             std::function<void()> changed) override {
    return process().admissions.watch(gate, visitor, std::move(changed));
  }
  // A clock that a test steps wakes nobody who listens.
  bool await(const GateName& gate, const VisitorId& visitor,
             const std::shared_ptr<Sleeper>& sleeper, Instant deadline) override {
    if (options_.stepped != nullptr) return Backend::await(gate, visitor, sleeper, deadline);
    return process().admissions.await(gate, visitor, sleeper, deadline);
  }
  void unwatch(const GateName& gate, const VisitorId& visitor) override {
    process().notifications.unwatch(gate, visitor);
  }
  // Messages may be lost.
  RecheckIntervals recheck_intervals() const noexcept override {
    return {.head = std::chrono::milliseconds(250), .overdue = std::chrono::milliseconds(20)};
  }

  void renew(std::span<RenewItem> items) override { process().leases.renew(items); }
  void renew_within(std::span<RenewItem> items, Duration at_most) override {
    process().leases.renew_within(items, at_most);
  }
  bool release(const Token& token) override { return process().leases.release(token); }
  void release_all(std::span<internal::ReleaseItem> items) noexcept override try {
    process().leases.release_all(items);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): nothing is over
  }
  bool release_soon(const Token& token, Instant until, bool by_next_step) noexcept override try {
    return process().leases.release_soon(token, until, by_next_step);
  } catch (const std::exception&) {
    return false;
  }
  bool disown(const Token& token) override {
    return process().leases.set_hold(token, Hold::detached).has_value();
  }
  std::optional<Granted> adopt(const Token& token) override {
    return process().leases.set_hold(token, Hold::bound);
  }
  bool holds(const Token& token) override { return process().leases.holds(token); }
  std::uint64_t server_of(const GateName& gate) override {
    return process().topology->server_of(slot_of(gate.group()));
  }

  std::optional<GateView> look(const GateName& gate) override {
    return process().reader.look(gate);
  }
  std::vector<GateCounts> counts(std::span<const GateName> gates) override {
    return process().reader.counts(gates);
  }
  std::vector<std::string> list() override { return process().reader.list(); }
  std::vector<GateSummary> survey(
      const std::function<bool(std::string_view gate)>& include) override {
    return process().reader.survey(include);
  }

  void set_limit(const GateName& gate, std::optional<std::uint32_t> limit) override {
    process().admin.set_limit(gate, limit);
  }
  void pause(const GateName& gate, Duration duration, std::string_view reporter) override {
    process().admin.pause(gate, duration, reporter);
  }
  bool resume(const GateName& gate, std::string_view reporter) override {
    return process().admin.resume(gate, reporter);
  }
  std::size_t revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                     Revoke how) override {
    return process().admin.revoke(gate, visitor, how);
  }
  bool purge(const GateName& gate) override { return process().admin.purge(gate); }
  void collect() override { process().admin.collect(); }
  std::vector<Finding> examine() override { return process().admin.examine(); }

  void deliver_messages() { process().notifications.flush(); }

 private:
  Process& process() {
    return *process_.get([this] {
      used_in_ = base::fork_generation();
      return std::make_unique<Process>(options_);
    });
  }

  const Options options_;
  std::atomic<std::uint64_t> used_in_ = 0;
  base::PerProcess<std::unique_ptr<Process>> process_;
};

}  // namespace

Store make_store(Options options) {
  return internal::Handle::to(std::make_shared<RedisStore>(std::move(options)));
}

void deliver_messages(const Store& store) {
  if (auto* const own = dynamic_cast<RedisStore*>(internal::backend_of(store).get()))
    own->deliver_messages();
}

}  // namespace airlock::redis
