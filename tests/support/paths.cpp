#include "support/paths.hpp"

// What this build does not have is nowhere.
#ifndef AIRLOCK_SHIFTED_CLOCK
#define AIRLOCK_SHIFTED_CLOCK ""
#define AIRLOCK_PROCESSOR_CLOCK ""
#endif
#ifndef AIRLOCK_OTHER_LAYOUT
#define AIRLOCK_OTHER_LAYOUT ""
#define AIRLOCK_OLDER_LAYOUT ""
#endif

namespace airlock::testing {

std::string source_dir() { return AIRLOCK_SOURCE_DIR; }
std::string shifted_clock() { return AIRLOCK_SHIFTED_CLOCK; }
std::string processor_clock() { return AIRLOCK_PROCESSOR_CLOCK; }
std::string other_layout() { return AIRLOCK_OTHER_LAYOUT; }
std::string older_layout() { return AIRLOCK_OLDER_LAYOUT; }

}  // namespace airlock::testing
