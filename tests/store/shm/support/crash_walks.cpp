#include "store/shm/support/crash_walks.hpp"

#include <chrono>
#include <string>
#include <variant>

#include "airlock/error.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kLimit = 3;

Request ask(std::string_view name, bool join = false) {
  Request request{.gate = "gate",
                  .visitor = VisitorId::named(name),
                  .label = name,
                  .permits = Permits{.limit = kLimit, .ttl = 1h}};
  request.line.join = join;
  request.line.patience = 1h;
  return request;
}

// A single weight that leaves no room.
Request ask_for_all(std::string_view name) {
  Request request = ask(name);
  request.permits->weight = kLimit;
  return request;
}

Token enter(const Store& store, const Request& request) {
  return std::get<Granted>(store.admit(request)).token;
}

bool is_in(const Answer& answer) { return std::holds_alternative<Granted>(answer); }

// After whatever happened: who is in and who waits are these and no others, the rest of the limit can
// be had and no more, and in the end nothing is left.
std::string check(const Store& store, const std::vector<std::string>& in,
                  const std::vector<std::string>& waiting) {
  (void)store.admit(
      {.gate = "other", .visitor = VisitorId::random(), .permits = Permits{.limit = 1}});
  const auto view = store.look("gate");
  std::vector<std::string> holders;
  std::vector<std::string> line;
  if (view) {
    for (const auto& holder : view->holders) holders.push_back(holder.label);
    for (const auto& waiter : view->line) line.push_back(waiter.label);
  }
  const auto show = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += name + ' ';
    return text;
  };
  if (holders != in) return "in are " + show(holders) + "instead of " + show(in);
  if (line != waiting) return "waiting are " + show(line) + "instead of " + show(waiting);
  std::vector<Token> tokens;
  if (waiting.empty()) {
    for (auto free = in.size(); free < kLimit; ++free) {
      const Answer answer = store.admit(ask("heir" + std::to_string(free)));
      if (!is_in(answer)) return "no room for the rest of the limit";
      tokens.push_back(std::get<Granted>(answer).token);
    }
    if (is_in(store.admit(ask("too many")))) return "more than the limit";
  }
  for (const Token& token : tokens) {
    if (!store.release(token)) return "what was granted is gone";
  }
  if (!store.purge("gate") && view) return "the gate is gone";
  const auto after = store.look("gate");
  if (after && (after->counts.in_use != 0 || after->counts.waiting != 0))
    return "something is left";
  return is_in(store.admit(ask_for_all("last"))) ? "" : "not all of the limit is free";
}

auto expect(std::vector<std::string> in, std::vector<std::string> waiting = {}) {
  return [in = std::move(in), waiting = std::move(waiting)](const Store& heir) {
    return check(heir, in, waiting);
  };
}

// Whoever is next has been handed the slot, or is when somebody asks.
auto expect_next(const std::string& next, std::vector<std::string> waiting) {
  return [next, waiting = std::move(waiting)](const Store& heir) -> std::string {
    if (!is_in(heir.admit(ask_for_all(next)))) return next + " is not in";
    return check(heir, {next}, waiting);
  };
}

void keep(const Store& survivor) { (void)enter(survivor, ask("ann")); }

Token g_token{.gate = "-"};  // Of the process that dies.

}  // namespace

std::vector<CrashWalk> crash_walks() {
  std::vector<CrashWalk> walks;
  walks.push_back({.name = "acquire",
                   .before = keep,
                   .step = [](const Store& store) { (void)store.admit(ask("bob")); },
                   .check = expect({"ann"})});
  walks.push_back({.name = "acquire at a new gate",
                   .before = keep,
                   .step =
                       [](const Store& store) {
                         Request request = ask("bob");
                         request.gate = "new";
                         (void)store.admit(request);
                       },
                   .check = expect({"ann"})});
  walks.push_back({.name = "release",
                   .before = keep,
                   .prepare = [](const Store& store) { g_token = enter(store, ask("bob")); },
                   .step = [](const Store& store) { store.release(g_token); },
                   .check = expect({"ann"})});
  walks.push_back({.name = "renew",
                   .before = keep,
                   .prepare = [](const Store& store) { g_token = enter(store, ask("bob")); },
                   .step = [](const Store& store) { (void)store.renew(g_token, 2h); },
                   .check = expect({"ann"})});
  walks.push_back({.name = "enqueue",
                   .before =
                       [](const Store& survivor) {
                         (void)enter(survivor, ask_for_all("ann"));
                         (void)survivor.admit(ask("bob", true));
                       },
                   .step = [](const Store& store) { (void)store.admit(ask("cid", true)); },
                   .check = expect({"ann"}, {"bob"})});
  walks.push_back({.name = "leave",
                   .before =
                       [](const Store& survivor) {
                         (void)enter(survivor, ask_for_all("ann"));
                         (void)survivor.admit(ask("bob", true));
                       },
                   .prepare = [](const Store& store) { (void)store.admit(ask("cid", true)); },
                   .step = [](const Store& store) { store.leave("gate", VisitorId::named("cid")); },
                   .check = expect({"ann"}, {"bob"})});
  const auto wait_for_all = [](const Store& survivor) {
    for (const char* name : {"bob", "cid"}) {
      Request request = ask_for_all(name);
      request.line.join = true;
      request.line.patience = 1h;
      request.line.claim_window = 1h;
      (void)survivor.admit(request);
    }
  };
  // The dying process is in before the others join, so it prepares the whole scene but for itself.
  walks.push_back({.name = "hand-over",
                   .prepare =
                       [](const Store& store) {
                         Request request = ask_for_all("dying");
                         g_token = enter(store, request);
                         for (const char* name : {"bob", "cid"}) {
                           Request waits = ask_for_all(name);
                           waits.line.join = true;
                           waits.line.patience = 1h;
                           waits.line.claim_window = 1h;
                           waits.hold = Hold::detached;
                           (void)store.admit(waits);
                         }
                       },
                   .step = [](const Store& store) { store.release(g_token); },
                   .check = expect_next("bob", {"cid"})});
  walks.push_back({.name = "claim",
                   .before =
                       [wait_for_all](const Store& survivor) {
                         (void)enter(survivor, ask_for_all("ann"));
                         Request dying = ask_for_all("dying");
                         dying.line.join = true;
                         dying.line.patience = 1h;
                         dying.line.claim_window = 1h;
                         (void)survivor.admit(dying);
                         wait_for_all(survivor);
                       },
                   .prepare =
                       [](const Store& store) {
                         // Asks, so that it is bound to this process, and is then handed the slot.
                         Request dying = ask_for_all("dying");
                         dying.line.join = true;
                         dying.line.patience = 1h;
                         (void)store.admit(dying);
                         store.revoke("gate", VisitorId::named("ann"), Revoke::now);
                       },
                   .step = [](const Store& store) { (void)store.admit(ask_for_all("dying")); },
                   .check = expect_next("bob", {"cid"})});
  walks.push_back({.name = "two gates of a group",
                   .before = keep,
                   .step =
                       [](const Store& store) {
                         Request a = ask("bob");
                         Request b = ask("bob");
                         a.gate = "g/a";
                         b.gate = "g/b";
                         (void)store.admit_all(std::array{a, b});
                       },
                   .check = [](const Store& heir) -> std::string {
                     for (const char* gate : {"g/a", "g/b"}) {
                       Request all = ask_for_all("all");
                       all.gate = gate;
                       if (!is_in(heir.admit(all))) return std::string(gate) + " is not free";
                     }
                     return check(heir, {"ann"}, {});
                   }});
  walks.push_back({.name = "recover",
                   .before = keep,
                   .after_a_death = true,
                   .step = [](const Store& store) { (void)store.admit(ask("bob")); },
                   .check = expect({"ann"})});
  walks.push_back({.name = "attach",
                   .before = keep,
                   .step = [](const Store& store) { (void)store.id(); },
                   .attaches = true,
                   .by_calls = true,
                   .check = expect({"ann"})});
  walks.push_back({.name = "create",
                   .step = [](const Store& store) { (void)store.admit(ask("bob")); },
                   .attaches = true,
                   .by_calls = true,
                   .check = expect({})});
  return walks;
}

}  // namespace airlock
