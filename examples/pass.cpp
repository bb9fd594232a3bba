// A site behind a waiting room: a signed cookie lets a visitor in without asking the store.
// expect: first page: a pass for 29s
// expect: second page: welcome, no store was asked
// expect: stolen: no valid pass \(forged\)
// expect: another gate: no valid pass \(other_gate\)
// expect: after rotation: welcome, no store was asked
// expect: half a minute later: no valid pass \(expired\)
// expect: leaving: released
// expect: leaving twice: already gone
#include "airlock/pass.hpp"

#include <iostream>
#include <string>

#include "airlock/airlock.hpp"
#include "airlock/testing.hpp"

using namespace std::chrono_literals;

namespace {

// [check]
// Every request. The gate is that of the page, the session is the browser's own cookie.
std::string serve(const airlock::Keyring& keys, const std::string& cookie,
                  const airlock::GateName& gate, std::string_view session, airlock::Instant now) {
  const auto checked = keys.check_pass(cookie, gate, {.bound = session, .now = now});
  if (std::holds_alternative<airlock::Pass>(checked)) return "welcome, no store was asked";
  // For the log only. The visitor is sent to the waiting room, whatever the reason is.
  const auto fault = std::get<airlock::PassFault>(checked);
  return std::string("no valid pass (") + airlock::to_text(fault) + ")";
}
// [/check]

// [leave]
// What a visitor may do with its admission. The signature says who asks, the store what is left.
std::string leave(const airlock::Store& store, const airlock::Keyring& keys,
                  const std::string& text, airlock::Instant now) {
  const auto checked = keys.check_capability(text, "shop", {.now = now});
  const auto* capability = std::get_if<airlock::Capability>(&checked);
  if (capability == nullptr) return "no";
  return store.release(capability->token()) ? "released" : "already gone";
}
// [/leave]

}  // namespace

int main() {
  airlock::testing::ManualClock clock;  // So that the output is always the same. Leave .now out.
  auto store = airlock::testing::memory_store(clock);
  const airlock::Airlock shop{store, "shop", {.limit = 100, .ttl = 30s}};

  // [keys]
  // One file for all servers of the site, mode 0600; `new_line` makes a key. The first one signs.
  const std::string file = airlock::Keyring::new_line("2026-05");
  airlock::Keyring keys = airlock::Keyring::parse(file);  // Or Keyring::load(path).
  // [/keys]

  // [sign]
  const airlock::Answer answer = shop.admit(airlock::VisitorId::random());
  const auto& granted = std::get<airlock::Granted>(answer);
  const std::string cookie = keys.sign_pass(granted.token, granted.expires_in,
                                            {.bound = "session 7", .now = clock.wall()});
  const std::string exit =
      keys.sign_capability(granted.token, granted.expires_in, {.now = clock.wall()});
  // [/sign]
  const auto checked = keys.check_pass(cookie, "shop", {.bound = "session 7", .now = clock.wall()});
  const auto& pass = std::get<airlock::Pass>(checked);
  std::cout << "first page: a pass for " << airlock::to_text(pass.expires() - clock.wall()) << "\n";

  const auto show = [&](const char* what, const char* gate, const char* session) {
    std::cout << what << ": " << serve(keys, cookie, gate, session, clock.wall()) << "\n";
  };
  show("second page", "shop", "session 7");
  show("stolen", "shop", "session 8");
  show("another gate", "admin", "session 7");

  // [rotate]
  // The new key is first and signs. The old one still checks what it has signed.
  keys = airlock::Keyring::parse(airlock::Keyring::new_line("2026-06") + file);
  // [/rotate]
  show("after rotation", "shop", "session 7");

  clock.advance(29s);
  show("half a minute later", "shop", "session 7");
  std::cout << "leaving: " << leave(store, keys, exit, clock.wall()) << "\n";
  std::cout << "leaving twice: " << leave(store, keys, exit, clock.wall()) << "\n";
}
