#pragma once

// What every header needs first: the version, a compiler that is new enough, what is exported.

#define AIRLOCK_VERSION_MAJOR 0
#define AIRLOCK_VERSION_MINOR 9
#define AIRLOCK_VERSION_PATCH 0
#define AIRLOCK_VERSION "0.9.0"

#if !defined(__cplusplus) || \
    (__cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L))
#error "airlock needs C++20: compile with -std=c++20"
#endif

// Marks what a shared library build exports; everything else is hidden.
#if defined(__GNUC__)
#define AIRLOCK_EXPORT __attribute__((visibility("default")))
#else
#define AIRLOCK_EXPORT
#endif

namespace airlock {

// Of the library that is linked, "0.9.0"; AIRLOCK_VERSION is that of the headers.
[[nodiscard]] AIRLOCK_EXPORT const char* version() noexcept;

}  // namespace airlock
