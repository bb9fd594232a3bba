#include "airlock/observer.hpp"

#include <atomic>

#include "admission/notify.hpp"

namespace airlock {
namespace {

constinit std::atomic<std::uint64_t> g_failures{0};

}  // namespace

Observer::~Observer() = default;

std::uint64_t observer_failures() noexcept { return g_failures; }

void internal::tell(Observer& observer, const Event& event) noexcept {
  swallow([&] { observer.on(event); });
}

void internal::swallow(const std::function<void()>& callback) noexcept {
  try {
    callback();
  } catch (...) {
    ++g_failures;
  }
}

}  // namespace airlock
