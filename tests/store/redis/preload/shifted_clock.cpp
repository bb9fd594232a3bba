#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

// For LD_PRELOAD: the wall clock of a program, shifted by the microseconds in the file that
// AIRLOCK_CLOCK_SHIFT names. It may change at any time.

namespace {

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kSecond = 1'000'000'000;

const std::atomic<std::int64_t>& shift() {
  static const auto* const kShift = [] {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
    const int fd = open(std::getenv("AIRLOCK_CLOCK_SHIFT"), O_RDONLY | O_CLOEXEC);
    void* const memory = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<const std::atomic<std::int64_t>*>(memory);
  }();
  return *kShift;
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): those of libc are reserved
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  const std::int64_t shifted = time->tv_sec * kSecond + time->tv_nsec + shift() * kMicrosecond;
  *time = {.tv_sec = shifted / kSecond, .tv_nsec = shifted % kSecond};
  return result;
}

extern "C" int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / kMicrosecond};
  return 0;
}

extern "C" time_t time(time_t* result) noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
