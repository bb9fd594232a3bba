#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "airlock/error.hpp"
#include "airlock/lease.hpp"
#include "checked_output.hpp"
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

// The files of the caller are not the keeper's to keep open; airlock's own were closed by fork().
void close_files(const Descriptor& process) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  const auto kept = static_cast<unsigned>(process.get());
  if (kept > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, kept - 1, 0);
  close_range(kept + 1, ~0U, 0);
}

// In a process that nobody waits for and no terminal ends: true there. Exit with 71 if there is none.
bool become_keeper(const Descriptor& process) {
  const pid_t between = fork();
  if (between < 0) throw Exit{kSystem, "no process for renewing: " + error_text(errno)};
  if (between == 0) {
    setsid();
    const pid_t keeper = fork();
    if (keeper != 0) _exit(keeper > 0 ? 0 : 1);
    close_files(process);
    return true;
  }
  int status = 0;
  waitpid(between, &status, 0);
  if (status != 0) throw Exit{kSystem, "no process for renewing"};
  return false;
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
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is nobody to tell
} catch (const Exit&) {            // NOLINT(bugprone-empty-catch): the same
}

// Prints the token, after the keeper has it. True in the keeper.
bool hand_out(const Token& token, const std::optional<Descriptor>& process) {
  if (process && become_keeper(*process)) return true;
  write_output(token.text() + "\n");
  return false;
}

int acquire(const Command& command, Acquire& options) {
  if (!holds(options)) {
    throw InvalidArgument(
        "acquire: a rate alone holds nothing that a token could give back; use `airlock take`, or "
        "add --slots N or --lock");
  }
  std::optional<Descriptor> process;
  if (options.while_pid != 0) process.emplace(open_process(options.while_pid));
  std::optional<Token> token;
  {
    Signals signals;
    token = enter(command, options, signals).detach();
  }
  try {
    if (!hand_out(*token, process)) return 0;
  } catch (const Exit& exit) {
    command.open().release(*token);  // Nobody knows it.
    throw Exit{exit.status, exit.message + "; the slot is given back"};
  }
  keep_while(command, *token, options.ttl, *process);
  _exit(0);
}

int release(const Command& command, Held& held) {
  if (command.open().release(Token::parse(held.token))) return 0;
  throw Exit{kLost, "nothing released: the admission had already ended"};
}

int renew(const Command& command, Held& held) {
  switch (command.open().renew(Token::parse(held.token), held.ttl)) {
    case Renewal::renewed:
      return 0;
    case Renewal::revoked:
      throw Exit{kLost, "not renewed: an operator revoked the admission"};
    default:
      throw Exit{kLost, "not renewed: the admission has ended"};
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
  add_permit_options(acquire_app, *options,
                     "Ends after this [30s] unless it is renewed, by `renew` or --while-pid");
  add_rate_options(acquire_app, *options);
  add_wait_options(acquire_app, *options);
  add_number(acquire_app, "--while-pid", options->while_pid, 1, std::numeric_limits<pid_t>::max(),
             "Renewed in the background until that process ends, then released")
      ->type_name("PID");
  add_gate(acquire_app, options->gate);

  const auto released = std::make_shared<Held>();
  add_token(add_subcommand(app, command, "release", "Releases what a token stands for", released,
                           &release),
            *released);
  const auto renewed = std::make_shared<Held>();
  CLI::App& renew_app =
      add_subcommand(app, command, "renew", "Renews a token from now on", renewed, &renew);
  add_token(renew_app, *renewed);
  add_duration(renew_app, "--ttl", renewed->ttl, "For this long [30s]");
}

}  // namespace airlock::cli
