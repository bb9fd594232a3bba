#include "airlock/error.hpp"
#include "store/backend.hpp"
#include "store/memory/memory_store.hpp"
#ifdef AIRLOCK_WITH_REDIS
#include "store/redis/redis_store.hpp"
#endif
#include "store/shm/shm_store.hpp"
#include "store/uri.hpp"

namespace airlock {
namespace {

Store open_memory(const Uri& uri) {
  if (!uri.rest().empty()) throw InvalidArgument("store URI: memory: has no name, only options");
  return memory::make_store({.shards = uri.count("shards")}, Clock::system());
}

Store open_shm(const Uri& uri) { return shm::make_store(shm::Options::from(uri), Clock::system()); }

}  // namespace

Store open_store(std::string_view uri) {
  const Uri parsed = Uri::parse(uri);
  if (parsed.store() == StoreKind::memory) return open_memory(parsed);
  if (parsed.store() == StoreKind::shm) return open_shm(parsed);
#ifdef AIRLOCK_WITH_REDIS
  return redis::make_store(redis::Options::from(parsed));
#endif
  throw InvalidArgument("store URI: " + parsed.scheme() + ": is not built into this version");
}

}  // namespace airlock
