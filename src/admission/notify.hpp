#pragma once

#include <functional>

#include "airlock/observer.hpp"

namespace airlock::internal {

// Calls what a user gave; what it throws is counted (observer_failures()).
void swallow(const std::function<void()>& callback) noexcept;
void tell(Observer& observer, const Event& event) noexcept;

}  // namespace airlock::internal
