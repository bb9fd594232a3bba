#include "airlock/store.hpp"

namespace airlock {

Store::~Store() = default;

std::vector<Finding> Store::examine() { return {}; }

void Store::release_all(std::span<ReleaseItem> items) noexcept {
  for (ReleaseItem& item : items) {
    try {
      (void)release(item.token);
      item.is_over = true;
    } catch (const InvalidArgument&) {
      item.is_over = true;    // Nobody can.
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it is not over
    }
  }
}

void Store::renew_within(std::span<RenewItem> items, Duration /*at_most*/) { renew(items); }

std::vector<GateSummary> Store::survey() {
  return survey([](std::string_view /*gate*/) { return true; });
}

Renewal Store::renew(const Token& token, Duration ttl) {
  RenewItem item{.token = token, .ttl = ttl};
  renew({&item, 1});
  return item.result;
}

bool Store::await(const GateName& gate, const VisitorId& visitor,
                  const std::shared_ptr<Sleeper>& sleeper, Instant deadline) {
  if (!watch(gate, visitor, [sleeper] { sleeper->wake(true); })) return true;
  return sleeper->sleep(clock(), deadline);
}

}  // namespace airlock
