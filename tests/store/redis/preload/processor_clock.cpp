#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <ctime>

// For LD_PRELOAD: the time of day of a program advances with the processor time of the thread that asks. A
// server measures its commands by it, so INFO latencystats leaves out the time in which others ran. Each
// command of a script is measured, too, which costs it about a microsecond.

extern "C" int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  static const std::time_t kStart = std::time(nullptr);
  timespec used{};
  (void)syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &used);
  *time = {.tv_sec = kStart + used.tv_sec, .tv_usec = used.tv_nsec / 1'000};
  return 0;
}
