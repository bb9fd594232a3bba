#include "child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "airlock/error.hpp"
#include "command.hpp"
#include "inherited.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

[[noreturn]] void fail_to_start(const std::string& command, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  throw Exit{missing ? kNotFound : kNotExecutable, command + ": " + error_text(error)};
}

// 0 if the file can be executed.
int try_file(const std::string& path) {
  if (access(path.c_str(), X_OK) != 0) return errno;
  return access((path + "/.").c_str(), F_OK) == 0 ? EACCES : 0;  // A folder.
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// Ours, with those of the plan instead of what was there.
std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> merged = added;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const std::string& one : added) {
      replaced = replaced || (one.starts_with(name) && one[name.size()] == '=');
    }
    if (!replaced) merged.emplace_back(text);
  }
  return merged;
}

// What it takes to start a program, ready before vfork().
struct Start {
  const char* path;
  char* const* arguments;
  char* const* environment;
  sigset_t mask;
  pid_t parent;  // It dies with this one; 0: it does not.
  bool own_group;
};

// In the child, which has the parent's memory until exec: system calls only. Leaves in `error` why
// it did not start.
[[noreturn]] void become(const Start& start, volatile int& error) noexcept {
  if (start.parent != 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start.parent) _exit(kNotExecutable);  // It died before that.
  }
  if (start.own_group) setpgid(0, 0);
  restore_dispositions();
  pthread_sigmask(SIG_SETMASK, &start.mask, nullptr);
  execve(start.path, start.arguments, start.environment);
  error = errno;
  _exit(kNotExecutable);
}

// The process; 0 and errno if there is none. A copy of this process would cost more than many
// commands take. No handler can run in the child.
pid_t spawn(const Start& start) {
  volatile int error = 0;
  const pid_t pid = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (pid == 0) become(start, error);
  if (pid < 0) throw Exit{kSystem, "no process for the command: " + error_text(errno)};
  if (error == 0) return pid;
  waitpid(pid, nullptr, 0);
  errno = error;
  return 0;
}

// A program for another kind of machine is no script, though it cannot be executed either.
bool is_text(const char* path) {
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 128> begin{};
  const ssize_t size = read(file.get(), begin.data(), begin.size());
  return size >= 0 && std::string_view(begin.data(), static_cast<std::size_t>(size)).find('\0') ==
                          std::string::npos;
}

int shell_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string find_executable(const std::string& command) {
  if (command.empty()) fail_to_start("\"\"", ENOENT);
  if (command.find('/') != std::string::npos) {
    if (const int error = try_file(command)) fail_to_start(command, error);
    return command;
  }
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread yet
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  int found = ENOENT;
  while (true) {
    const std::string folder(rest.substr(0, rest.find(':')));
    std::string file = (folder.empty() ? "." : folder) + "/" + command;
    const int error = try_file(file);
    if (error == 0) return file;
    if (error == EACCES) found = error;
    if (rest.find(':') == std::string_view::npos) fail_to_start(command, found);
    rest.remove_prefix(rest.find(':') + 1);
  }
}

bool has_terminal() noexcept {
  return Descriptor(open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)).get() >= 0;
}

Child::Child(const Plan& plan, const Signals& signals) : own_group_(plan.own_group) {
  const std::vector<char*> arguments = pointers(plan.arguments);
  const std::vector<std::string> merged = merged_environment(plan.environment);
  const std::vector<char*> environment = pointers(merged);
  Start start{.path = plan.path.c_str(),
              .arguments = arguments.data(),
              .environment = environment.data(),
              .mask = signals.inherited(),
              .parent = plan.outlives_us ? 0 : getpid(),
              .own_group = plan.own_group};
  pid_ = spawn(start);
  if (pid_ == 0 && errno == ENOEXEC && is_text(start.path)) {
    std::vector<std::string> script = {"sh", plan.path};
    script.insert(script.end(), plan.arguments.begin() + 1, plan.arguments.end());
    const std::vector<char*> shell_arguments = pointers(script);
    start.path = "/bin/sh";
    start.arguments = shell_arguments.data();
    pid_ = spawn(start);
  }
  if (pid_ == 0) fail_to_start(plan.path, errno);
}

void Child::send(int signal) const noexcept {
  if (status_) return;
  const bool for_one = signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGWINCH;
  kill(own_group_ && !for_one ? -pid_ : pid_, signal);
}

std::optional<int> Child::status() {
  int status = 0;
  for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended == pid_) status_ = shell_status(status);
  }
  return status_;
}

}  // namespace airlock::cli
