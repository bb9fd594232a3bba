#include <sys/wait.h>
#include <unistd.h>

#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/shm.hpp"
#include "command.hpp"
#include "demo_world.hpp"
#include "output.hpp"
#include "screen.hpp"

namespace airlock::cli {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock;

constexpr milliseconds kTick{100};
constexpr std::size_t kChart = 40;

struct Demo {
  milliseconds act{4'000};
};

// A store of its own that is gone afterwards, unless one was chosen.
class DemoStore {
 public:
  explicit DemoStore(const std::string& chosen)
      : is_own_(chosen == "shm:"),
        uri_(is_own_ ? "shm:demo-" + std::to_string(getpid()) : chosen),
        store_(open_store(uri_)) {
    store_.purge(demo::kGate);
  }
  DemoStore(const DemoStore&) = delete;
  DemoStore& operator=(const DemoStore&) = delete;
  ~DemoStore() {
    store_ = {};
    if (is_own_) remove_shm_store(uri_);
  }

  [[nodiscard]] const std::string& uri() const noexcept { return uri_; }
  [[nodiscard]] const Store& get() const noexcept { return store_; }

 private:
  bool is_own_;
  std::string uri_;
  Store store_;
};

class Show {
 public:
  explicit Show(const std::string& chosen_store) : store_(chosen_store) {}

  void play(const Demo& demo) {
    say("A dependency falls over when more than 10 call it at once; 50 processes call it.");
    say("\n1. Without airlock");
    const Score without = run_act(demo.act);
    say("\n2. Behind a bulkhead of 10: Bulkhead erp{store, \"fragile\", {.limit = 10}}");
    board_->guarded = true;
    std::this_thread::sleep_for(milliseconds(600));
    dependency_.look_after();                        // It stands again,
    std::this_thread::sleep_for(milliseconds(100));  // and who failed before has noticed.
    const Score with = run_act(demo.act);
    say("\n3. A worker that is inside is killed with -9");
    kill_a_worker();
    say("\n4. Somebody who can wait 50 ms only");
    be_impatient();
    summarise(without, with);
  }

 private:
  struct Score {
    std::uint64_t succeeded;
    std::uint64_t failed;
    std::uint64_t turned_away;
    std::uint64_t falls;

    Score operator-(const Score& other) const {
      return {succeeded - other.succeeded, failed - other.failed, turned_away - other.turned_away,
              falls - other.falls};
    }
  };

  static void say(const std::string& text) { std::cout << text << std::endl; }

  [[nodiscard]] Score score() const {
    return {board_->succeeded, board_->failed, board_->turned_away, board_->falls};
  }

  [[nodiscard]] GateCounts counts() const {
    const auto gate = store_.get().look(demo::kGate);
    return gate ? gate->counts : GateCounts{};
  }

  // A line that moves on a terminal, else one a second.
  void draw(const Score& now, Sparkline& chart, std::size_t tick) {
    const std::uint32_t in_flight = board_->in_flight();
    chart.add(in_flight);
    const bool too_many = in_flight > demo::kLimit;
    const auto colour = too_many ? Screen::Colour::red : Screen::Colour::green;
    std::ostringstream line;
    line << "   in use " << std::setw(2) << in_flight << "  waiting " << std::setw(2)
         << counts().waiting << "  ok " << std::setw(5) << now.succeeded << "  "
         << screen_.coloured(now.failed != 0 ? Screen::Colour::red : Screen::Colour::green,
                             "failed " + std::to_string(now.failed))
         << "  fell over " << now.falls;
    if (screen_.is_terminal()) {
      std::cout << "\r\x1b[K" << line.str() << "  "
                << screen_.coloured(colour, chart.text(demo::kWorkers)) << std::flush;
    } else if (tick % 10 == 9) {
      std::cout << line.str() << std::endl;
    }
  }

  Score run_act(milliseconds length) {
    const Score before = score();
    Sparkline chart(std::min(kChart, screen_.columns() > 72 ? screen_.columns() - 72 : 1));
    const auto end = Time::now() + length;
    for (std::size_t tick = 0; Time::now() < end; ++tick) {
      std::this_thread::sleep_for(kTick);
      dependency_.look_after();
      draw(score() - before, chart, tick);
    }
    if (screen_.is_terminal()) std::cout << std::endl;
    return score() - before;
  }

  [[nodiscard]] std::uint64_t deaths() const {
    const auto gate = store_.get().look(demo::kGate);
    return gate ? gate->counters.died + gate->counters.expired : 0;
  }

  void kill_a_worker() {
    const std::uint64_t before = deaths();
    const auto began = Time::now();
    const pid_t pid = workers_.kill_one();
    while (deaths() == before && Time::now() - began < std::chrono::seconds(7)) {
      std::this_thread::sleep_for(milliseconds(1));
      dependency_.look_after();
    }
    const auto took = std::chrono::duration_cast<milliseconds>(Time::now() - began);
    say("   process " + std::to_string(pid) + " is gone; its slot was free again after " +
        to_text(took) + ", and " + std::to_string(counts().in_use) + " of 10 are in use");
  }

  void be_impatient() const {
    const Airlock airlock(store_.get(), demo::kGate, {.limit = demo::kLimit});
    const Outcome<Lease> lease = airlock.try_enter_for(milliseconds(50));
    if (lease) return say("   was lucky and got in");
    say("   left the line after " + brief(lease.error().waited) + " (" +
        to_text(lease.error().reason) + "), and nobody behind noticed");
  }

  void summarise(const Score& without, const Score& with) const {
    say("");
    Table table({"", "CALLS OK", "FAILED", "FELL OVER"});
    const auto add = [&](const char* name, const Score& score) {
      table.add({name, std::to_string(score.succeeded),
                 std::to_string(score.failed + score.turned_away), std::to_string(score.falls)});
    };
    add("without airlock", without);
    add("with airlock", with);
    std::cout << table.text("   ");
    say("\nTry next:  airlock run --slots 3 build -- make     airlock top     airlock run --help");
  }

  Screen screen_;
  DemoStore store_;
  std::unique_ptr<demo::Board, demo::Unmap> board_ = demo::make_board();
  demo::Dependency dependency_{*board_};
  demo::Workers workers_{*board_, dependency_, store_.uri()};
};

int show_demo(const Command& command, Demo& options) {
  Show(command.store_uri).play(options);
  return 0;
}

}  // namespace

void add_demo(CLI::App& app, Command& command) {
  add_subcommand(app, command, "demo", "Shows a dependency that is overrun, and how it is not",
                 std::make_shared<Demo>(), &show_demo);
}

}  // namespace airlock::cli
