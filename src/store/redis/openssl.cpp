#include "store/redis/openssl.hpp"

#include <atomic>
#include <memory>

#ifdef AIRLOCK_LOAD_OPENSSL
#include <dlfcn.h>

#include <string>

#include "airlock/error.hpp"
#endif

namespace airlock::redis {
namespace {

#ifdef AIRLOCK_LOAD_OPENSSL

[[noreturn]] void fail() {
  const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one per thread
  throw StoreError(StoreError::Kind::incompatible, StoreError::Outcome::nothing_happened,
                   std::string("redis: TLS: OpenSSL cannot be loaded: ") + why);
}

// libcrypto comes with libssl, and its functions are found through it.
template <typename Function>
void find(void* library, const char* name, Function*& found) {
  found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) fail();
}

OpenSsl make() {
  const std::string name = "libssl.so." + std::to_string(OPENSSL_SHLIB_VERSION);
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail();
  OpenSsl made{};
#define AIRLOCK_OPENSSL_FIND(name) find(library, #name, made.name);
  AIRLOCK_OPENSSL_FUNCTIONS(AIRLOCK_OPENSSL_FIND)
#undef AIRLOCK_OPENSSL_FIND
  return made;
}

#else

OpenSsl make() {
#define AIRLOCK_OPENSSL_ADDRESS(name) &::name,
  return {AIRLOCK_OPENSSL_FUNCTIONS(AIRLOCK_OPENSSL_ADDRESS)};
#undef AIRLOCK_OPENSSL_ADDRESS
}

#endif

}  // namespace

// Without the lock of a static that is made when it is first used: a fork() meanwhile would leave it
// locked in the child.
const OpenSsl& openssl() {
  static constinit std::atomic<const OpenSsl*> known{nullptr};
  if (const OpenSsl* const functions = known.load()) return *functions;
  auto made = std::make_unique<const OpenSsl>(make());
  const OpenSsl* none = nullptr;
  return known.compare_exchange_strong(none, made.get()) ? *made.release() : *none;
}

}  // namespace airlock::redis
