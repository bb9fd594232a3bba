#pragma once

// Marks what a shared library build exports; everything else is hidden.
#if defined(__GNUC__)
#define AIRLOCK_EXPORT __attribute__((visibility("default")))
#else
#define AIRLOCK_EXPORT
#endif
