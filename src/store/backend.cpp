#include "store/backend.hpp"

namespace airlock::internal {

Backend::~Backend() = default;

std::vector<Finding> Backend::examine() { return {}; }

namespace {

// Ends what a visitor has at a gate where nobody knows its fence: asking again finds it.
void release_lockfree(Backend& store, const Token& token) {
  if (store.leave(token.gate, token.visitor)) return;
  const Answer answer = store.admit({.gate = token.gate,
                                     .visitor = token.visitor,
                                     .permits = Permits{.limit = 1},
                                     .line = {.returning = true}});
  if (const auto* granted = std::get_if<Granted>(&answer)) (void)store.release(granted->token);
}

}  // namespace

void Backend::admit_each(std::span<AdmitItem> items) noexcept {
  for (AdmitItem& item : items) {
    try {
      item.answer = admit(item.request);
    } catch (...) {
      item.failure = std::current_exception();
    }
  }
}

bool Backend::release_soon(const Token& /*token*/, Instant /*until*/,
                           bool /*by_next_step*/) noexcept {
  return false;
}

void Backend::release_all(std::span<ReleaseItem> items) noexcept {
  for (ReleaseItem& item : items) {
    try {
      if (item.token.fence == 0) {
        release_lockfree(*this, item.token);
      } else {
        (void)release(item.token);
      }
      item.is_over = true;
    } catch (const InvalidArgument&) {
      item.is_over = true;    // Nobody can.
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it is not over
    }
  }
}

void Backend::renew_within(std::span<RenewItem> items, Duration /*at_most*/) { renew(items); }

bool Backend::await(const GateName& gate, const VisitorId& visitor,
                    const std::shared_ptr<Sleeper>& sleeper, Instant deadline) {
  if (!watch(gate, visitor, [sleeper] { sleeper->wake(true); })) return true;
  return sleeper->sleep(clock(), deadline);
}

}  // namespace airlock::internal
