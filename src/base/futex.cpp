#include "base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): timespec is POSIX
#include <unistd.h>

namespace airlock::base {

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                Duration at_most) noexcept {
  constexpr std::int64_t kSecond = 1'000'000;
  const timespec time{.tv_sec = at_most.count() / kSecond,
                      .tv_nsec = at_most.count() % kSecond * 1'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word, int sleepers) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
}

}  // namespace airlock::base
