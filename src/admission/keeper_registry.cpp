#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "admission/keeper.hpp"
#include "base/immortal.hpp"
#include "base/per_process.hpp"

// Which store of this process has which keeper.

namespace airlock::internal {
namespace {

struct Known {
  std::weak_ptr<Backend> store;
  std::weak_ptr<Keeper> keeper;
  bool closed = false;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<Backend*, Known> stores;
};

// Leases in static objects may outlive any order of destruction.
constinit base::Immortal<base::PerProcess<std::unique_ptr<Registry>>> g_registries;

Registry& registry() {
  return *g_registries.value.get([] { return std::make_unique<Registry>(); });
}

// Ends the store of a handle. The keeper has the store, too, but not the handle.
struct Pin {
  void operator()(Backend* /*store*/) noexcept {
    keeper.reset();
    store.reset();
  }

  std::shared_ptr<Backend> store;
  std::shared_ptr<base::PerProcess<std::shared_ptr<Keeper>>> keeper;
};

}  // namespace

std::shared_ptr<Backend> Keeper::pin(std::shared_ptr<Backend> store) noexcept try {
  if (!store || std::get_deleter<Pin>(store) != nullptr) return store;
  Backend* const backend = store.get();
  auto keeper = std::make_shared<base::PerProcess<std::shared_ptr<Keeper>>>();
  return {backend, Pin{store, std::move(keeper)}};
} catch (const std::bad_alloc&) {
  return store;  // Without: the keeper lives as long as those who use it.
}

std::shared_ptr<Keeper> Keeper::of(const std::shared_ptr<Backend>& store) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.stores, [](const auto& entry) { return entry.second.store.expired(); });
  Known& found = known.stores[store.get()];
  std::shared_ptr<Keeper> keeper = found.keeper.lock();
  if (!keeper) {
    const Pin* const pin = std::get_deleter<Pin>(store);
    keeper = std::make_shared<Keeper>(pin != nullptr ? pin->store : store);
    if (pin != nullptr) (void)pin->keeper->get([&] { return keeper; });
    if (found.closed) keeper->closing_.request_stop();
    found = {store, keeper, found.closed};
  }
  return keeper;
}

void Keeper::close(const std::shared_ptr<Backend>& store) {
  const std::shared_ptr<Keeper> keeper = of(store);
  {
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    known.stores[store.get()].closed = true;
  }
  keeper->closing_.request_stop();
}

}  // namespace airlock::internal
