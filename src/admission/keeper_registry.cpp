#include <mutex>
#include <unordered_map>

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

}  // namespace

std::shared_ptr<Keeper> Keeper::of(const std::shared_ptr<Backend>& store) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.stores, [](const auto& entry) { return entry.second.store.expired(); });
  Known& found = known.stores[store.get()];
  std::shared_ptr<Keeper> keeper = found.keeper.lock();
  if (!keeper) {
    keeper = std::make_shared<Keeper>(store);
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
