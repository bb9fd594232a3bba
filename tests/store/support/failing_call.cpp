#include "store/support/failing_call.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): raise is POSIX here
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "store/support/child.hpp"

namespace airlock {
namespace {

// A call that no program makes, with another argument each.
constexpr long kMark = 9'999;
constexpr long kBegin = 1;
constexpr long kEnd = 2;

bool counts(long number) {
  constexpr std::array kNot = {long{SYS_close},          long{SYS_brk},        long{SYS_munmap},
                               long{SYS_exit},           long{SYS_exit_group}, long{SYS_futex},
                               long{SYS_rt_sigprocmask}, long{SYS_madvise}};
  return std::ranges::find(kNot, number) == kNot.end();
}

class Tracer {
 public:
  Tracer(const FailingCall& plan, pid_t pid) : plan_(plan), pid_(pid) {}

  FailingCall::Result run() {
    int status = 0;
    waitpid(pid_, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    int signal = 0;
    for (bool entering = true;;) {
      ptrace(PTRACE_SYSCALL, pid_, nullptr, signal);
      if (waitpid(pid_, &status, 0) != pid_) break;
      if (!WIFSTOPPED(status)) break;
      signal = 0;
      if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
        entering ? enter() : leave();
        entering = !entering;
      } else if (WSTOPSIG(status) != SIGTRAP) {
        signal = WSTOPSIG(status);
      }
    }
    result_.status = status;
    result_.ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return result_;
  }

 private:
  void enter() {
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
    const auto number = static_cast<long>(registers.orig_rax);
    if (number == kMark) between_ = registers.rdi == kBegin;
    if (!between_ || number == kMark || !counts(number)) return;
    if (++result_.calls != plan_.k) return;
    result_.failed = number;
    failing_ = true;
    registers.orig_rax = ~0ULL;  // No such call.
    ptrace(PTRACE_SETREGS, pid_, nullptr, &registers);
  }

  void leave() {
    if (!failing_) return;
    failing_ = false;
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
    registers.rax = static_cast<unsigned long long>(-static_cast<long long>(plan_.error));
    ptrace(PTRACE_SETREGS, pid_, nullptr, &registers);
  }

  const FailingCall& plan_;
  const pid_t pid_;
  FailingCall::Result result_;
  bool between_ = false;
  bool failing_ = false;
};

}  // namespace

FailingCall::Result FailingCall::run(const std::function<void()>& work) const {
  const Child child([&] {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    work();
  });
  return Tracer(*this, child.pid()).run();
}

void FailingCall::mark_begin() { (void)syscall(kMark, kBegin); }
void FailingCall::mark_end() { (void)syscall(kMark, kEnd); }

}  // namespace airlock
