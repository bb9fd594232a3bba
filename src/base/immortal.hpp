#pragma once

namespace airlock::base {

// A global that is made at compile time and never destroyed: no thread runs its constructor, so that
// a fork() during its first use is harmless, and static objects of the program may use it when they
// end.
//
//   constinit Immortal<Registry> g_registry;
template <typename T>
union Immortal {
  constexpr Immortal() noexcept : value() {}
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;
  ~Immortal() {}  // NOLINT(modernize-use-equals-default): that would be deleted

  T value;
};

}  // namespace airlock::base
