#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "airlock.h"
#include "fuzz.hpp"

// Calls of the C interface in any order, with any arguments and handles that live, are absent or of the wrong kind.

namespace {

using airlock::fuzz::Input;
using airlock::fuzz::require;

// Some of each, so that calls meet each other's.
constexpr std::size_t kSlots = 3;

struct World {
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    for (auto* lease : leases) airlock_lease_free(lease);
    for (auto* mailbox : mailboxes) airlock_mailbox_free(mailbox);
    for (auto* seal : seals) airlock_seal_free(seal);
    for (auto* gate : gates) airlock_gate_free(gate);
    airlock_keyed_free(keyed);
    airlock_isolation_free(isolation);
    airlock_view_free(view);
    airlock_list_free(list);
    airlock_store_free(store);
  }

  airlock_store* store = nullptr;
  std::array<airlock_gate*, kSlots> gates = {};
  std::array<airlock_lease*, kSlots> leases = {};
  std::array<airlock_seal*, kSlots> seals = {};
  std::array<airlock_mailbox*, kSlots> mailboxes = {};
  airlock_keyed* keyed = nullptr;
  airlock_isolation* isolation = nullptr;
  airlock_view* view = nullptr;
  airlock_list* list = nullptr;
  std::array<char, AIRLOCK_TOKEN_SIZE> token = {};
  airlock_answer answer = {};
  airlock_error error = AIRLOCK_ERROR_INIT;
};

// The arguments, from the input.
class Arguments {
 public:
  explicit Arguments(Input& input) : input_(input) {}

  [[nodiscard]] std::uint8_t byte() { return input_.byte(); }
  [[nodiscard]] std::uint32_t number() {
    constexpr std::uint32_t kNumbers[] = {0, 1, 2, 3, 8, 9, 4096, 1U << 31, ~0U};
    const std::uint8_t which = input_.byte();
    return which < std::size(kNumbers) ? kNumbers[which] : which % 4;
  }
  // Not so long that a call waits.
  [[nodiscard]] std::int64_t wait() { return input_.byte() % 4 * AIRLOCK_MILLISECOND; }
  [[nodiscard]] std::int64_t duration() {
    constexpr std::int64_t kDurations[] = {
        0, -1, 1, AIRLOCK_SECOND, 60 * AIRLOCK_SECOND, AIRLOCK_FOREVER, INT64_MIN, 20'000};
    return kDurations[input_.byte() % std::size(kDurations)];
  }
  [[nodiscard]] airlock_text text() {
    const std::uint8_t size = input_.byte();
    if (size == 255) return {nullptr, 5};
    if (size == 254) return {nullptr, 0};
    if (size % 2 == 0) {
      constexpr const char* kNames[] = {"a", "b", "g/a", "g/b"};
      return airlock_str(kNames[size / 2 % 4]);
    }
    const std::string_view taken = input_.bytes(size % 32);
    return {taken.data(), taken.size()};
  }
  [[nodiscard]] airlock_text token(const World& world) {
    return input_.byte() % 8 == 0 ? text() : airlock_str(world.token.data());
  }
  template <typename Struct>
  void set_size(Struct& given) {
    const std::uint8_t which = input_.byte();
    given.size = which == 255 ? 0 : which > 240 ? which - 240U : sizeof given;
  }
  [[nodiscard]] airlock_ask ask() {
    airlock_ask ask{};
    set_size(ask);
    ask.weight = number();
    ask.priority = number();
    ask.cost = number();
    ask.interruptible = input_.byte() % 8 == 0 ? 1 : 0;
    ask.label = text();
    return ask;
  }
  [[nodiscard]] airlock_rate rate() {
    return {.count = number(),
            .burst = number(),
            .period = duration(),
            .algorithm = static_cast<std::int32_t>(input_.byte() % 6) - 1,
            .reserved = input_.byte() % 16 == 0 ? 1 : 0};
  }

 private:
  Input& input_;
};

// A lease is the world's, in place of another one.
void keep(World& world, airlock_lease* lease, std::uint8_t slot) {
  if (lease == nullptr) return;
  auto*& held = world.leases[slot % kSlots];
  airlock_lease_free(held);
  held = lease;
}

std::int32_t open_something(World& world, Arguments& with) {
  airlock_gate_options options{};
  airlock_rate rates[2] = {with.rate(), with.rate()};
  with.set_size(options);
  options.limit = with.number();
  options.ttl = with.duration();
  options.max_hold = with.duration();
  options.rates = with.byte() % 8 == 0 ? nullptr : rates;
  options.rate_count = with.byte() % 4 == 0 ? with.byte() % 3U : 0;
  options.order = static_cast<std::int32_t>(with.byte() % 6) - 1;
  options.exclusive = with.byte() % 8 == 0 ? with.number() : 0;
  options.barging = with.byte() % 4 == 0 ? 1 : 0;
  options.max_waiting = with.number();
  options.patience = with.duration();
  options.claim_window = with.duration();
  options.outage = with.byte() % 4;
  const std::uint8_t slot = with.byte();
  if (slot % 8 == 0) {
    airlock_keyed_free(world.keyed);
    return airlock_keyed_open(world.store, with.text(), &options, &world.keyed, &world.error);
  }
  auto*& gate = world.gates[slot % kSlots];
  airlock_gate_free(gate);
  return airlock_gate_open(world.store, with.text(), &options, &gate, &world.error);
}

std::int32_t open_seal(World& world, Arguments& with) {
  const airlock_rate rate = with.rate();
  airlock_seal* made = nullptr;
  std::int32_t status = 0;
  switch (with.byte() % 5) {
    case 0:
      status = airlock_seal_lock(world.store, with.text(), with.duration(), &made, &world.error);
      break;
    case 1:
      status = airlock_seal_semaphore(world.store, with.text(), with.number(), with.number(),
                                      with.duration(), &made, &world.error);
      break;
    case 2:
      status =
          airlock_seal_cooldown(world.store, with.text(), with.duration(), &made, &world.error);
      break;
    case 3:
      status = airlock_seal_rates(world.store, with.text(), &rate, with.byte() % 2U,
                                  with.duration(), &made, &world.error);
      break;
    default:
      status = airlock_seal_composite(world.seals[with.byte() % kSlots],
                                      world.seals[with.byte() % kSlots], &made, &world.error);
  }
  auto*& seal = world.seals[with.byte() % kSlots];
  airlock_seal_free(seal);
  seal = made;
  return status;
}

std::int32_t enter(World& world, Arguments& with) {
  const airlock_ask ask = with.ask();
  const airlock_gate* const gate = world.gates[with.byte() % kSlots];
  const airlock_ask* const asked = with.byte() % 2 == 0 ? nullptr : &ask;
  airlock_lease* lease = nullptr;
  std::int32_t status = 0;
  switch (with.byte() % 4) {
    case 0:
      status = airlock_keyed_enter(world.keyed, with.text(), asked, with.wait(), &lease,
                                   &world.answer, &world.error);
      break;
    case 1:
      status = airlock_isolation_lock(world.isolation, with.text(), with.wait(), &lease,
                                      &world.answer, &world.error);
      break;
    default:
      status = airlock_enter(gate, asked, with.wait(), &lease, &world.answer, &world.error);
  }
  require((status == AIRLOCK_DONE) == (lease != nullptr));
  keep(world, lease, with.byte());
  return status;
}

std::int32_t visit(World& world, Arguments& with) {
  const airlock_ask ask = with.ask();
  const airlock_gate* const gate = world.gates[with.byte() % kSlots];
  const airlock_visitor visitor{with.byte() % 3U, 0};
  switch (with.byte() % 4) {
    case 0:
      return airlock_visitor_claim(gate, visitor, &world.answer, &world.error);
    case 1:
      return airlock_visitor_leave(gate, visitor, &world.error);
    case 2:
      return airlock_visitor_mark_absent(gate, visitor, &world.error);
    default:
      return airlock_visitor_admit(gate, visitor, &ask, &world.answer, &world.error);
  }
}

std::int32_t use_mailbox(World& world, Arguments& with) {
  const airlock_ask ask = with.ask();
  auto*& mailbox = world.mailboxes[with.byte() % kSlots];
  switch (with.byte() % 6) {
    case 0:
      airlock_mailbox_free(mailbox);
      return airlock_mailbox_open(&mailbox, &world.error);
    case 1:
      return airlock_mailbox_cancel(mailbox, with.byte() % 8U, &world.error);
    case 2:
      return airlock_lease_watch(world.leases[with.byte() % kSlots], mailbox, with.byte() % 8U,
                                 &world.error);
    case 3: {
      airlock_event event{};
      with.set_size(event);
      const std::int32_t status =
          airlock_mailbox_next(mailbox, &event, &world.answer, &world.error);
      if (status == AIRLOCK_DONE) keep(world, event.lease, with.byte());
      return status;
    }
    default:
      return airlock_enter_async(world.gates[with.byte() % kSlots], &ask, with.wait(), mailbox,
                                 with.byte() % 8U, &world.error);
  }
}

std::int32_t use_lease(World& world, Arguments& with) {
  auto*& lease = world.leases[with.byte() % kSlots];
  (void)airlock_lease_valid(lease);
  (void)airlock_lease_slot(lease);
  airlock_lease* adopted = nullptr;
  std::int32_t status = 0;
  switch (with.byte() % 8) {
    case 0:
      airlock_lease_free(std::exchange(lease, nullptr));
      return AIRLOCK_DONE;
    case 1:
      return airlock_lease_release(lease, &world.error);
    case 2:
      return airlock_lease_token(lease, world.token.data(), &world.error);
    case 3:
      return airlock_lease_detach(lease, world.token.data(), &world.error);
    case 4:
      status = airlock_lease_adopt(world.store, with.token(world), with.duration(), &adopted,
                                   &world.error);
      keep(world, adopted, with.byte());
      return status;
    case 5:
      return airlock_token_renew(world.store, with.token(world), with.duration(), &world.error);
    case 6:
      return airlock_token_release(world.store, with.token(world), &world.error);
    default:
      return airlock_token_holds(world.store, with.token(world), &world.error);
  }
}

std::int32_t use_seal(World& world, Arguments& with) {
  const airlock_seal* const seal = world.seals[with.byte() % kSlots];
  const airlock_visitor visitor{with.byte() % 3U, 0};
  airlock_seal_ask ask{};
  with.set_size(ask);
  ask.cost = with.number();
  ask.visitor = with.byte() % 2 == 0 ? nullptr : &visitor;
  ask.label = with.text();
  std::int32_t status = 0;
  switch (with.byte() % 5) {
    case 0:
      return airlock_seal_release(seal, with.token(world), &world.error);
    case 1:
      return airlock_seal_renew(seal, with.token(world), with.duration(), &world.answer,
                                &world.error);
    case 2:
      return airlock_seal_holds(seal, with.token(world), &world.error);
    case 3:
      return airlock_seal_take(seal, with.byte() % 6 - 1, with.number(), with.duration(),
                               &world.answer, &world.error);
    default:
      status = airlock_seal_try(seal, &ask, &world.answer, &world.error);
      if (status == AIRLOCK_DONE)
        std::copy_n(world.answer.token, AIRLOCK_TOKEN_SIZE, world.token.data());
      return status;
  }
}

std::int32_t look(World& world, Arguments& with) {
  airlock_holder holder{};
  airlock_waiter waiter{};
  airlock_summary summary{};
  with.set_size(holder);
  with.set_size(waiter);
  with.set_size(summary);
  switch (with.byte() % 5) {
    case 0:
      airlock_view_free(world.view);
      return airlock_look(world.store, with.text(), &world.view, &world.error);
    case 1:
      return airlock_view_summary(world.view, &summary, &world.error);
    case 2:
      return airlock_view_holder(world.view, with.number(), &holder, &world.error);
    case 3:
      return airlock_view_waiter(world.view, with.number(), &waiter, &world.error);
    default:
      airlock_list_free(world.list);
      return airlock_gates(world.store, &world.list, &world.error);
  }
}

std::int32_t operate(World& world, Arguments& with) {
  const airlock_visitor visitor{with.byte() % 3U, 0};
  switch (with.byte() % 6) {
    case 0:
      return airlock_limit_set(world.store, with.text(), with.number(), &world.error);
    case 1:
      return airlock_limit_clear(world.store, with.text(), &world.error);
    case 2:
      return airlock_pause(world.store, with.text(), with.duration(), with.text(), &world.error);
    case 3:
      return airlock_resume(world.store, with.text(), with.text(), &world.error);
    case 4:
      return airlock_revoke(world.store, with.text(), with.byte() % 2 == 0 ? nullptr : &visitor,
                            with.byte() % 4 - 1, nullptr, &world.error);
    default:
      return airlock_purge(world.store, with.text(), &world.error);
  }
}

std::int32_t call(World& world, Input& input) {
  constexpr std::int32_t (*kCalls[])(World&, Arguments&) = {
      open_something, open_seal, enter, visit, use_mailbox, use_lease, use_seal, look, operate};
  Arguments with(input);
  with.set_size(world.answer);
  return kCalls[with.byte() % std::size(kCalls)](world, with);
}

}  // namespace

// What a call may answer: never a defect, and a text with every failure.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  World world;
  require(airlock_store_open(airlock_str("memory:"), &world.store, nullptr) == AIRLOCK_DONE);
  require(airlock_isolation_open(world.store, 0, 0, &world.isolation, nullptr) == AIRLOCK_DONE);
  require(airlock_mailbox_open(&world.mailboxes[0], nullptr) == AIRLOCK_DONE);
  Input input(data, size);
  for (int calls = 0; !input.is_empty() && calls < 64; ++calls) {
    world.error.text[0] = '\0';
    const std::int32_t status = call(world, input);
    require(status > AIRLOCK_NO_MEMORY && status <= AIRLOCK_INTERRUPTED);
    require(status >= 0 || world.error.text[0] != '\0');
  }
  return 0;
}
