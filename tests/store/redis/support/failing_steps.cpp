#include "store/redis/support/failing_steps.hpp"

#include <sstream>

#include "airlock/error.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;

constexpr Rate kRate{.count = 5, .period = 1min};

VisitorId visitor(std::string_view name) { return VisitorId::named(name); }

Request ask(std::string_view name, const GateName& gate = "gate", std::uint32_t limit = 2) {
  Request request{.gate = gate,
                  .visitor = visitor(name),
                  .label = name,
                  .permits = Permits{.limit = limit, .ttl = 1h}};
  request.line.join = true;
  return request;
}

Token admit(const Store& store, std::string_view name) {
  return std::get<Granted>(store.admit(ask(name))).token;
}

Token held_by(const Store& store, std::string_view name) {
  const auto view = store.look("gate");
  for (const HolderView& holder : view->holders) {
    if (holder.visitor == visitor(name)) {
      return {store.id(), "gate", holder.visitor, holder.fence};
    }
  }
  throw std::logic_error("it holds nothing");
}

void nothing(const Store& /*store*/) {}

// Two inside, two in line.
void fill(const Store& store) {
  for (const char* name : {"ann", "bob", "cid", "dan"}) (void)store.admit(ask(name));
}

// A gate that nobody uses is as good as none, and forgotten in time.
bool is_idle(const GateView& view) {
  return view.holders.empty() && view.line.empty() && view.rates.empty() && view.pauses.empty() &&
         !view.override_limit;
}

std::string text_of(const GateView& view) {
  std::ostringstream out;
  out << view.name << " " << view.counts.in_use << "/" << view.counts.limit << " "
      << view.override_limit.value_or(-1) << "\n";
  for (const HolderView& holder : view.holders) {
    out << "  in " << holder.label << " weight " << holder.weight << " slot "
        << holder.slot.value_or(-1) << " for " << holder.remaining.count()
        << (holder.claimed ? "" : " unclaimed") << (holder.revoked ? " revoked" : "")
        << static_cast<int>(holder.hold) << "\n";
  }
  for (const WaiterView& waiter : view.line) out << "  waits " << waiter.label << "\n";
  for (const RateView& rate : view.rates) {
    out << "  " << rate.rate.text() << " left " << rate.info.remaining << "\n";
  }
  for (const PauseView& pause : view.pauses) {
    out << "  paused " << pause.reporter << " for " << pause.remaining.count() << "\n";
  }
  return out.str();
}

}  // namespace

std::vector<FailingStep> failing_steps() {
  const auto leave_cid = [](const Store& store) { store.leave("gate", visitor("cid")); };
  return {
      {"the first", nothing, [](const Store& store) { (void)admit(store, "ann"); }},
      {"admit", [](const Store& store) { (void)admit(store, "ann"); },
       [](const Store& store) { (void)admit(store, "bob"); }},
      {"admit with rates", [](const Store& store) { (void)admit(store, "ann"); },
       [](const Store& store) {
         Request request = ask("bob");
         request.rates = {&kRate, 1};
         (void)store.admit(request);
       }},
      {"join", fill, [](const Store& store) { (void)store.admit(ask("eve")); }},
      {"claim",
       [](const Store& store) {
         fill(store);
         (void)store.release(held_by(store, "ann"));
       },
       [](const Store& store) { (void)store.admit(ask("cid")); }},
      {"admit_all", [](const Store& store) { (void)admit(store, "ann"); },
       [](const Store& store) {
         const std::vector<Request> requests = {ask("eve", "group/a"), ask("eve", "group/b")};
         (void)store.admit_all(requests);
       }},
      {"leave", fill, leave_cid},
      {"refund",
       [](const Store& store) {
         Request request = ask("bob");
         request.rates = {&kRate, 1};
         (void)store.admit(request);
       },
       [](const Store& store) {
         Request request = ask("bob");
         request.rates = {&kRate, 1};
         store.refund(request);
       }},
      {"renew", fill, [](const Store& store) { (void)store.renew(held_by(store, "ann"), 2h); }},
      {"release and hand over", fill,
       [](const Store& store) { (void)store.release(held_by(store, "ann")); }},
      {"release", [](const Store& store) { (void)admit(store, "ann"); },
       [](const Store& store) { (void)store.release(held_by(store, "ann")); }},
      {"disown", fill, [](const Store& store) { (void)store.disown(held_by(store, "ann")); }},
      {"adopt",
       [](const Store& store) {
         fill(store);
         (void)store.disown(held_by(store, "ann"));
       },
       [](const Store& store) { (void)store.adopt(held_by(store, "ann")); }},
      {"look", fill, [](const Store& store) { (void)store.look("gate"); }},
      {"counts", fill,
       [](const Store& store) {
         (void)store.counts(std::vector<GateName>{"gate", "none"});
       }},
      {"list", fill, [](const Store& store) { (void)store.list(); }},
      {"set_limit", fill, [](const Store& store) { store.set_limit("gate", 3); }},
      {"pause", fill, [](const Store& store) { store.pause("gate", 1min, "reporter"); }},
      {"resume",
       [](const Store& store) {
         fill(store);
         store.pause("gate", 1min);
       },
       [](const Store& store) { (void)store.resume("gate"); }},
      {"revoke", fill,
       [](const Store& store) { (void)store.revoke("gate", visitor("ann"), Revoke::now); }},
      {"purge", fill, [](const Store& store) { (void)store.purge("gate"); }},
      {"watch", fill,
       [](const Store& store) {
         (void)store.watch("gate", visitor("cid"), [] {});
         store.unwatch("gate", visitor("cid"));
       }},
      {"collect", fill, [](const Store& store) { store.collect(); }},
  };
}

std::string state_of(const Store& store) {
  std::string state;
  for (const std::string& name : store.list()) {
    if (const auto view = store.look(name); view && !is_idle(*view)) state += text_of(*view);
  }
  return state;
}

std::string FailedStep::wrong() const {
  const bool as_before = after == before;
  const bool as_complete = after == complete;
  const bool well = said == Said::done               ? as_complete
                    : said == Said::nothing_happened ? as_before
                                                     : as_before || as_complete;
  if (well) return "";
  return "said " + std::to_string(static_cast<int>(said)) + "; before:\n" + before +
         "when complete:\n" + complete + "now:\n" + after;
}

FailedStep::Said said_by(const std::function<void(const Store&)>& step, const Store& store) try {
  step(store);
  return FailedStep::Said::done;
} catch (const StoreError& error) {
  return error.outcome() == StoreError::Outcome::nothing_happened
             ? FailedStep::Said::nothing_happened
             : FailedStep::Said::failed;
} catch (const std::exception&) {
  return FailedStep::Said::failed;
}

}  // namespace airlock
