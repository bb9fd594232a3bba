#include <sys/eventfd.h>

#include <iostream>

#include "airlock/error.hpp"
#include "child.hpp"
#include "command.hpp"
#include "entry.hpp"

namespace airlock::cli {
namespace {

// How long a command that was told to stop may take.
constexpr std::chrono::milliseconds kGrace{5'000};

// A command that has ended by then ended at once.
constexpr std::chrono::milliseconds kAtOnce{10};

struct Run : Entry {
  bool orphan = false;
  std::vector<std::string> command = {};
};

std::vector<std::string> environment(const Lease& lease, const GateName& gate) {
  std::vector<std::string> added = {"AIRLOCK_GATE=" + gate.text(),
                                    "AIRLOCK_FENCE=" + std::to_string(lease.fence())};
  if (lease.fence() != 0) added.push_back("AIRLOCK_TOKEN=" + lease.token().text());
  if (lease.slot()) added.push_back("AIRLOCK_SLOT=" + std::to_string(*lease.slot()));
  return added;
}

// A terminal sends its signals to the whole job, so the child has them already.
void pass_on(const signalfd_siginfo& info, const Child& child) {
  const auto signal = static_cast<int>(info.ssi_signo);
  if (signal != SIGCHLD && info.ssi_code != SI_KERNEL) child.send(signal);
  if (signal == SIGTSTP) stop_self();
}

// Until the child has ended. A lost lease ends it: politely, then not. Hearing of a loss takes two
// threads, which a command that ends at once is spared.
class Watch {
 public:
  Watch(Child& child, const Lease& lease, Signals& signals)
      : child_(child), lease_(lease), signals_(signals) {}

  // The status of the child.
  int wait() {
    while (true) {
      const bool lost = poll_readable(is_lost_ ? -1 : lost_fd_.get(), signals_, timeout_);
      while (const auto info = signals_.next()) pass_on(*info, child_);
      if (const auto status = child_.status()) return *status;
      if (!on_lost_) listen();
      if (lost) {
        std::cerr << "airlock: the lease is lost, the command is told to stop\n";
        child_.send(SIGTERM);
        is_lost_ = true;
        kill_at_ = std::chrono::steady_clock::now() + kGrace;
        timeout_ = kGrace;
      } else if (is_lost_ && std::chrono::steady_clock::now() >= kill_at_) {
        child_.send(SIGKILL);
      }
    }
  }

  [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }

 private:
  struct Notify {
    int fd;
    void operator()() const noexcept { eventfd_write(fd, 1); }
  };

  void listen() {
    on_lost_.emplace(lease_.lost(), Notify{lost_fd_.get()});
    timeout_ = std::chrono::milliseconds(-1);
  }

  Child& child_;
  const Lease& lease_;
  Signals& signals_;
  Descriptor lost_fd_{eventfd(0, EFD_CLOEXEC)};
  std::optional<std::stop_callback<Notify>> on_lost_;
  bool is_lost_ = false;
  std::chrono::steady_clock::time_point kill_at_;
  std::chrono::milliseconds timeout_ = kAtOnce;
};

// `--` before it says where it begins, anywhere else it belongs to it.
std::vector<std::string> whole_command(const Run& options,
                                       const std::vector<std::string>& after_dashes) {
  std::vector<std::string> whole = options.command;
  if (!whole.empty() && !after_dashes.empty()) whole.emplace_back("--");
  whole.insert(whole.end(), after_dashes.begin(), after_dashes.end());
  return whole;
}

int run(const Command& command, Run& options) {
  if (!options.command.empty() && options.command.front().starts_with('-')) {
    throw InvalidArgument("run: unknown option " + options.command.front());
  }
  options.command = whole_command(options, command.after_dashes);
  if (options.command.empty()) throw InvalidArgument("run: a command is needed after the name");
  const std::string path = find_executable(options.command.front());
  Signals signals;
  Lease lease = enter(command, options, signals);
  Child child({.path = path,
               .arguments = options.command,
               .environment = environment(lease, *options.gate),
               .outlives_us = options.orphan},
              signals);
  Watch watch(child, lease, signals);
  const int status = watch.wait();
  if (watch.is_lost()) return kLost;
  lease.release();
  return status;
}

}  // namespace

void add_run(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Run>();
  CLI::App& run_app =
      add_subcommand(app, command, "run",
                     "Runs a command inside: one at a time, or in so many slots", options, &run);
  add_permit_options(run_app, *options);
  add_rate_options(run_app, *options);
  add_wait_options(run_app, *options);
  add_duration(run_app, "--max-hold", options->max_hold,
               "Renewed no longer than this; then the command is told to stop");
  run_app
      .add_option("--on-outage", options->run_on_outage,
                  "With the store unavailable: fail [default] or run unguarded")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, std::string>{{"fail", "false"}, {"run", "true"}}))
      ->type_name("fail|run");
  run_app.add_flag("--orphan", options->orphan,
                   "The command goes on, unguarded, if airlock itself is killed");
  add_gate(run_app, options->gate);
  run_app.prefix_command();
  run_app.footer("What follows NAME is the command; `--` before it is optional.");
  run_app.parse_complete_callback([options, &run_app] { options->command = run_app.remaining(); });
}

}  // namespace airlock::cli
