#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "airlock/error.hpp"
#include "airlock/lease.hpp"
#include "command.hpp"
#include "entry.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

struct Acquire : Entry {
  pid_t while_pid = 0;
};

struct Held {
  std::string token;
  Duration ttl = std::chrono::seconds(30);
};

Descriptor open_process(pid_t pid) {
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (process.get() >= 0) return process;
  throw InvalidArgument("--while-pid " + std::to_string(pid) + ": " + error_text(errno));
}

// In a process of its own: nobody waits for it, no terminal ends it, and it has no files of ours.
bool become_keeper() {
  if (fork() != 0) return false;
  setsid();
  if (fork() != 0) _exit(0);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    close(fd);
  }
  return true;
}

// Renews until that process has ended, then gives back. Ends early if the lease is lost.
void keep_while(const Command& command, const Token& token, Duration ttl,
                const Descriptor& process) try {
  Signals signals;
  Lease lease = Lease::adopt(command.open(), token, ttl);
  const std::stop_token lost = lease.lost();
  while (!lost.stop_requested() && signals.next_fatal() == 0) {
    if (poll_readable(process.get(), signals, std::chrono::milliseconds(1'000))) break;
  }
} catch (const Error&) {  // NOLINT(bugprone-empty-catch): it is gone, and there is nobody to tell
}

int acquire(const Command& command, Acquire& options) {
  std::optional<Descriptor> process;
  if (options.while_pid != 0) process.emplace(open_process(options.while_pid));
  std::optional<Token> token;
  {
    Signals signals;
    token = enter(command, options, signals).detach();
  }
  std::cout << token->text() << std::endl;
  if (!process || !become_keeper()) return 0;
  keep_while(command, *token, options.ttl, *process);
  _exit(0);
}

int release(const Command& command, Held& held) {
  if (command.open()->release(Token::parse(held.token))) return 0;
  throw Exit{kLost, "nothing released, the admission has ended before"};
}

int renew(const Command& command, Held& held) {
  switch (command.open()->renew(Token::parse(held.token), held.ttl)) {
    case Renewal::renewed:
      return 0;
    case Renewal::revoked:
      throw Exit{kLost, "not renewed, an operator revoked the admission"};
    default:
      throw Exit{kLost, "not renewed, the admission has ended"};
  }
}

void add_token(CLI::App& app, Held& held) {
  app.add_option("TOKEN", held.token, "What `acquire` printed")->required()->type_name("");
}

}  // namespace

void add_acquire(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Acquire>();
  CLI::App& acquire_app = add_subcommand(
      app, command, "acquire", "Prints a token that outlives this command", options, &acquire);
  add_permit_options(acquire_app, *options);
  add_rate_options(acquire_app, *options);
  add_wait_options(acquire_app, *options);
  acquire_app
      .add_option("--while-pid", options->while_pid,
                  "Renewed in the background until that process ends, then released")
      ->check(CLI::PositiveNumber)
      ->type_name("PID");
  add_gate(acquire_app, options->gate);

  const auto released = std::make_shared<Held>();
  add_token(add_subcommand(app, command, "release", "Gives back what a token stands for", released,
                           &release),
            *released);
  const auto renewed = std::make_shared<Held>();
  CLI::App& renew_app =
      add_subcommand(app, command, "renew", "Makes it last from now on", renewed, &renew);
  add_token(renew_app, *renewed);
  add_duration(renew_app, "--ttl", renewed->ttl, "For so long [30s]");
}

}  // namespace airlock::cli
