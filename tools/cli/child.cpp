#include "child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "airlock/error.hpp"
#include "command.hpp"
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

// In the child, which has the parent's memory until exec: system calls only. Leaves in `error` why
// it did not start.
[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment,
                         const sigset_t& mask, pid_t parent, volatile int& error) noexcept {
  if (parent != 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kNotExecutable);  // It died before that.
  }
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execve(path, arguments, environment);
  error = errno;
  _exit(kNotExecutable);
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

Child::Child(const Plan& plan, const Signals& signals) {
  const std::vector<char*> arguments = pointers(plan.arguments);
  const std::vector<std::string> merged = merged_environment(plan.environment);
  const std::vector<char*> environment = pointers(merged);
  const pid_t parent = plan.outlives_us ? 0 : getpid();
  volatile int error = 0;
  // A copy of this process would cost more than many commands take. No handler can run in the child.
  pid_ = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (pid_ == 0) {
    become(plan.path.c_str(), arguments.data(), environment.data(), signals.inherited(), parent,
           error);
  }
  if (pid_ < 0) fail_to_start(plan.path, errno);
  if (error == 0) return;
  waitpid(pid_, nullptr, 0);
  fail_to_start(plan.path, error);
}

void Child::send(int signal) const noexcept {
  if (!status_) kill(pid_, signal);
}

std::optional<int> Child::status() {
  int status = 0;
  for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended == pid_) status_ = shell_status(status);
  }
  return status_;
}

}  // namespace airlock::cli
