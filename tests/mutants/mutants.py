"""Small bugs of the kinds that peers really had. Each must be caught by a test, which run.py shows.

A mutant is a text of a file that stands there once, what takes its place, and the test that fails then.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    like: str  # Where it was seen, or what would be seen.
    file: str
    old: str
    new: str
    caught_by: str


MUTANTS = [
    # --- the rules ---
    Mutant(
        "limit-plus-one", "limit exceeded: redisson#2072, #3639",
        "src/model/visits.hpp", "gate.in_use} + weight <= effective", "gate.in_use} + weight <= effective + 1",
        "permits_contract_test"),
    Mutant(
        "newcomers-jump-the-line", "starvation of waiters: hindsight#4157",
        "src/model/admit.cpp", "present(*gate) == 0 || request.line.barging", "true || request.line.barging",
        "line_contract_test"),
    Mutant(
        "release-by-anybody", "an unlock deletes the next holder's lock",
        "src/model/visits.hpp", "token.fence != 0 && visit->fence() == token.fence", "token.fence != 0",
        "time_and_fence_contract_test"),
    Mutant(
        "fence-follows-the-clock-alone", "equal fences within a microsecond or after a step of the clock",
        "src/model/visits.hpp", "std::max(head_.stamp.get() + 1, wall)", "wall",
        "time_and_fence_contract_test"),
    Mutant(
        "expired-lease-is-renewed", "a lease that is gone comes back: go-redsync#186",
        "src/model/visits.hpp", "if (context.now >= gate->next_due) settle(gate, context);\n  const At<Visit> visit = find",
        "const At<Visit> visit = find",
        "time_and_fence_contract_test"),
    Mutant(
        "followers-of-the-absent-wait", "abandoned visitors stop the line: virtual-waiting-room-on-aws#154",
        "src/model/leases.cpp", "    if (!gate->line.is_empty()) advance(gate, context);\n  }\n  sweep_in_passing(context);\n  return has_place;",
        "  }\n  sweep_in_passing(context);\n  return has_place;",
        "watch_contract_test"),
    Mutant(
        "revoked-lease-is-renewed", "an operator's word is not heard",
        "src/model/leases.cpp", "if (visit->revoked.get() != 0) return;", "",
        "operators_contract_test"),
    Mutant(
        "promotion-without-room", "reader and writer inside together",
        "src/model/leases.cpp", "(weight < old || fits(", "(true || fits(",
        "permits_contract_test"),
    Mutant(
        "nobody-is-told-of-the-hand-over", "lost wake-up",
        "src/model/line.cpp", "publish(gate, visit, VisitState::handed, fence);\n  listener_.changed(visit.ref, *visit);",
        "publish(gate, visit, VisitState::handed, fence);",
        "watch_contract_test"),
    Mutant(
        "a-lost-wake-up-costs-the-turn", "who was handed a slot sleeps through its claim window",
        "src/admission/attempt.cpp", "std::clamp(claim_window / 2,", "std::clamp(std::max(claim_window, kForever),",
        "shm_lost_wake_process_test"),
    Mutant(
        "who-leaves-keeps-the-slot", "a waiter that gave up holds up the others",
        "src/model/leases.cpp", "remove_with_refund(gate, visit, context.now);\n    if (!gate->line.is_empty()) advance(gate, context);",
        "remove_with_refund(gate, visit, context.now);",
        "watch_contract_test"),
    Mutant(
        "missed-hand-over-burns-the-rate", "tokens spent on nobody",
        "src/model/line.cpp", "  give_back_all(*gate, taken, now);", "  (void)taken;",
        "composite_contract_test"),
    Mutant(
        "waiters-for-ever", "a crashed waiter blocks the line",
        "src/model/line.cpp", "if (visit->patience_end.get() <= now) {", "if (visit->patience_end.get() + kNever / 2 <= now) {",
        "absent_waiters_contract_test"),
    Mutant(
        "heavy-ones-are-drawn-over", "a heavy request starves behind light ones",
        "src/model/line.cpp", "if (gate.drawn.get() != kNone) return gate.drawn.get();", "",
        "lotteries_contract_test"),
    Mutant(
        "slot-numbers-leak", "slots run out without holders",
        "src/model/visits.hpp", "if (visit->slot.get() != kNone) slots_.give(*gate, visit->slot.get());", "",
        "permits_contract_test"),
    Mutant(
        "pause-lets-the-line-in", "a closed gate admits",
        "src/model/line.cpp", "gate->next_due = std::min(gate->next_due, paused);\n    return;", "gate->next_due = std::min(gate->next_due, paused);",
        "operators_contract_test"),
    Mutant(
        "refused-though-it-fits-later-never", "`never` is said of what only has to wait: symfony#40289",
        "src/model/admit.cpp", "if (rate.never) return refused(*gate, Reason::never, kForever, rate.info);\n  }", "if (!rate.allowed) return refused(*gate, Reason::never, kForever, rate.info);\n  }",
        "rates_contract_test"),
    Mutant(
        "a-rate-takes-what-is-not-there", "over-admission by a rate",
        "src/model/rates.hpp", "if (weight_.room < 0) return false;", "",
        "rates_contract_test"),
    Mutant(
        "a-rate-passes-a-pause", "a closed gate admits",
        "src/model/admit_fast.hpp", "if (gate->visits != 0 || gate->pauses != kNone) return false;", "if (gate->visits != 0) return false;",
        "operators_contract_test"),
    Mutant(
        "a-rate-passes-the-line", "starvation of waiters: hindsight#4157",
        "src/model/admit_fast.hpp", "if (gate->visits != 0 || gate->pauses != kNone) return false;", "if (gate->pauses != kNone) return false;",
        "rules_random_test"),
    Mutant(
        "a-glance-misses-a-rule", "a bad request is believed",
        "src/store/validate.hpp", "is_span(line.patience) && ", "",
        "validate_test"),
    Mutant(
        "a-bad-request-attaches-first", "a wrong call makes a file",
        "src/store/sharded/sharded_store.hpp", "self().attachment([&] { validate(request); })", "self().attachment([] {})",
        "open_store_test"),
    Mutant(
        "the-first-of-a-tree-stays", "the head of the line is one who left",
        "src/model/tree.hpp", "if (ends.first == ref) ends.first =", "if (ends.first == kNone) ends.first =",
        "structures_test"),
    # --- shared memory ---
    Mutant(
        "closed-descriptors-bury-the-living", "a library closes all descriptors of its process",
        "src/store/shm/process.cpp", "return !is_locked(number) && is_locked(number_of(self_));", "return !is_locked(number);",
        "shm_faults_process_test"),
    Mutant(
        "no-repair-after-a-death", "half a step is believed: boostorg/interprocess#56",
        "src/store/shm/shard_view.cpp", "if (to_repair) repair(context);", "if (false && to_repair) repair(context);",
        "shm_crashwalk_process_test"),
    Mutant(
        "the-dead-keep-their-slots", "slots leak on kill -9",
        "src/store/shm/process.cpp", "    control.deaths.store(1);\n", "",
        "shm_death_process_test"),
    Mutant(
        "nobody-suspects-the-holders", "a slot of a killed process stays taken until its ttl ends",
        "src/model/admit.cpp", "  if (!room) {\n    suspect_holders", "  if (false && !room) {\n    suspect_holders",
        "shm_many_processes_process_test"),
    Mutant(
        "an-exit-settles-every-gate", "short processes slow a store with many gates down",
        "src/model/deaths.cpp", "    for (std::size_t i = 0; i < count; ++i) {\n", "    gates_.for_each([&](Ref ref) { settle(gates_.at(ref), context); });\n    for (std::size_t i = 0; i < count; ++i) {\n",
        "deaths_test"),
    Mutant(
        "a-successor-loses-its-holds", "a new process pays for a dead one",
        "src/model/deaths.cpp", "      if (visit->owner.get() == present) continue;\n", "",
        "deaths_test"),
    Mutant(
        "empty-gates-are-not-evicted", "new keys are refused in a store full of old ones",
        "src/model/gates.cpp", "!(evict(context) && reserve())", "true",
        "many_keys_test"),
    Mutant(
        "rates-are-evicted", "a rate is forgotten under pressure",
        "src/model/gates.cpp", "return gate->pauses == kNone && gate->tiers == kNone;", "gate->tiers = kNone;\n  return true;",
        "many_keys_test"),
    Mutant(
        "many-returns-are-forgotten", "slots leak when many come back at once",
        "src/store/shm/shard_view.cpp", "if (!noted) control_.more_returned.store(1);", "(void)noted;",
        "shm_death_process_test"),
    Mutant(
        "who-unlocks-does-not-look-back", "what was given back meanwhile waits for the next one to come",
        "src/store/shm/shard_lock.cpp", "  base::futex_wake(low_half(), 1);\n  return true;", "  base::futex_wake(low_half(), 1);\n  return false;",
        "shm_death_process_test"),
    Mutant(
        "who-unlocks-does-not-look-again", "the same, where it was told to",
        "src/store/shm/shm_store.cpp", "    if (!is_over_ && end()) [[unlikely]]\n", "    if (!is_over_ && end() && false)\n",
        "shm_death_process_test"),
    Mutant(
        "who-looked-for-the-dead-does-not-look-again", "the same, where a step had suspects",
        "src/store/shm/shm_store.cpp", "    if (has_more_to_do) look_again();\n", "    if (has_more_to_do) return false;\n",
        "shm_death_process_test"),
    Mutant(
        "a-link-is-followed", "a planted symbolic link",
        "src/store/shm/file.cpp", "O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY", "O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY",
        "shm_hostile_test"),
    Mutant(
        "another-time-is-believed", "leases of another time namespace",
        "src/store/shm/segment.cpp", "if (header.time_namespace != host.time_namespace) {", "if (header.time_namespace != host.time_namespace && header.size == 0) {",
        "shm_hostile_test"),
    # --- Redis ---
    Mutant(
        "script-cache-is-trusted", "NOSCRIPT after a failover: redisson#4351",
        "src/store/redis/exchange.cpp", 'return reply.is_error() && reply.text().starts_with("NOSCRIPT");', "return reply.is_nil() && reply.is_error();",
        "redis_connection_redis_test"),
    Mutant(
        "everything-is-sent-twice", "counted twice after a timeout: express-rate-limit/rate-limit-redis#251",
        "src/store/redis/retry.cpp", "  if (policy == RetryPolicy::if_nothing_happened && error.outcome() != Outcome::nothing_happened)\n    return false;\n", "  (void)policy;\n",
        "redis_connection_redis_test"),
    Mutant(
        "who-leaves-takes-no-reply-along", "a late reply is read by the next: redis-py#360",
        "src/store/redis/pipeline.cpp", "    sent.caller = nullptr;\n", "    sent.caller = nullptr;\n    sent.replies = 0;\n",
        "pipeline_redis_test"),
    Mutant(
        "who-leaves-hands-nothing-on", "others wait although their reply is there",
        "src/store/redis/pipeline.cpp", "    call_another(wakes);\n", "",
        "pipeline_redis_test"),
    Mutant(
        "written-behind-a-wait", "an acknowledgement counts for what came later",
        "src/store/redis/pipeline.cpp", "(!queued_.empty() && !awaits_replicas_)", "!queued_.empty()",
        "pipeline_redis_test"),
    Mutant(
        "half-a-command-is-forgotten", "what follows is taken for the rest of it",
        "src/store/redis/pipeline.cpp", "  if (unsent_from_ == unsent_.size()) unsent_.clear();\n", "  unsent_.clear();\n",
        "pipeline_redis_test"),
    Mutant(
        "any-host-name-will-do", "TLS without a check of the name",
        "src/store/redis/tls.cpp", "openssl().SSL_set1_host(ssl_.get(), host.c_str());", "",
        "tls_redis_test"),
    Mutant(
        "clock-set-back-lengthens-leases", "spring-cloud-gateway#1688",
        "src/store/redis/lua/gate.lua", "    g.offset = g.last - CLOCK\n    g.now = g.last\n", "",
        "shifted_clock_redis_test"),
    Mutant(
        "nobody-hears-for-those-left", "who waits behind one that goes is told late: a wake-up lost",
        "src/store/redis/notify/subscription.cpp", "    if (!channels_.has_nobody_to_tell()) reader_.call_thread();\n", "",
        "redis_await_redis_test"),
    Mutant(
        "who-listens-cannot-be-woken", "a cancelled wait goes on until a message comes",
        "src/store/redis/notify/subscription.cpp", "if (std::this_thread::get_id() != own) events_.sleeper.signal();", "",
        "redis_await_redis_test"),
    Mutant(
        "keys-without-a-ttl", "redisson#4007, #4301, #6216",
        "src/store/redis/lua/gate.lua", "redis.call('PEXPIRE', KEYS[g.at + part], ms)", "",
        "redis_connection_redis_test"),
    Mutant(
        "a-part-of-a-gate-is-forgotten", "a clock is set back and forward",
        "src/store/redis/lua/gate.lua", "    g.set_back = true\n", "",
        "shifted_clock_redis_test"),
    Mutant(
        "a-limit-outlives-its-holders", "keys that end one by one",
        "src/store/redis/lua/gate.lua", "    if g.override >= 0 then\n      redis.call('PERSIST'", "    if g.override >= 0 and part == 0 then\n      redis.call('PERSIST'",
        "shifted_clock_redis_test"),
    Mutant(
        "nobody-is-published-to", "everybody polls",
        "src/store/redis/lua/line.lua", "  return publish(v.channel, v.id .. g.hash)", "  return 1",
        "watch_contract_test"),
    Mutant(
        "wait-is-ignored", "redisson#3994, #4154",
        "src/store/redis/pipeline.cpp", "!refused && reply.integer() >= replicas_ack_", "!refused",
        "replicas_ack_redis_test"),
    Mutant(
        "sentinels-are-believed", "a replica is taken for the primary: redis-plus-plus#441",
        "src/store/redis/connection.cpp", 'if (role.at(0).text() == "master") return;', "return;",
        "sentinel_redis_test"),
    Mutant(
        "a-slot-never-moves", "MOVED reaches the caller",
        "src/store/redis/cluster.cpp", "  owners_[slot] = find_or_add(to);\n", "  (void)find_or_add(to);\n  (void)slot;\n",
        "cluster_redis_test"),
    # --- leases ---
    Mutant(
        "renewed-when-it-is-over", "leases lost under load",
        "src/admission/keeper.hpp", "const Duration third = ttl / 3;", "const Duration third = ttl;",
        "lease_test"),
    Mutant(
        "loss-is-not-told", "a lost lease goes unnoticed",
        "src/admission/keeper.cpp", "if (held.lost || held.terms.observer) {", "if (false) {",
        "lease_test"),
    Mutant(
        "a-child-gives-back-its-parents", "fork() and a destructor",
        "src/admission/lease.cpp", "if (!keeper_->is_own()) {", "if (false) {",
        "fork_process_test"),
    Mutant(
        "who-gives-up-stays-in-line", "ghosts in the line",
        "src/admission/attempt.cpp", "    store.leave(gate_, visitor_);\n", "",
        "airlock_test"),
    Mutant(
        "one-failed-release-delays-all", "a server that is down delays the others",
        "src/admission/release_queue.cpp", "from = queue_.empty() ? failed_ : queue_;", "from = failed_.empty() ? queue_ : failed_;",
        "release_queue_test"),
    # --- signed passes ---
    Mutant(
        "a-mac-is-compared-until-it-differs", "a guess gets better by its time",
        "src/base/hmac.cpp", "    difference |= ", "    if (a[i] != b[i]) return false;\n    difference |= ",
        "pass_steps_process_test"),
    Mutant(
        "half-a-mac-is-enough", "a forged cookie",
        "src/base/hmac.cpp", "i < a.size(); ++i) {\n    difference", "i < a.size() / 2; ++i) {\n    difference",
        "hmac_test"),
    Mutant(
        "forged-is-believed", "a connector re-signs a forged cookie: it tests an enum for truth",
        "src/pass/pass.cpp", "return PassFault::forged;", "return std::move(statement);",
        "pass_test"),
    Mutant(
        "any-gate-will-do", "a pass of one site opens another",
        "src/pass/pass.cpp", "statement.token.gate != demand.gate", "false",
        "pass_test"),
    Mutant(
        "bound-bytes-run-into-the-text", "fields joined without separators",
        "src/pass/pass.cpp", "{body, std::string_view(\"\\0\", 1), *context.bound}", "{body, *context.bound}",
        "pass_test"),
    Mutant(
        "one-key-for-both-purposes", "a pass becomes a capability",
        "src/pass/keyring.cpp", "purpose = std::string(passes::kVersion) + '~' + static_cast<char>(kind);",
        "purpose = std::string(passes::kVersion) + (kind == passes::Kind::pass ? \"~p\" : \"~p\");",
        "pass_test"),
    Mutant(
        "leeway-for-what-has-expired", "a pass outlives its lease",
        "src/pass/pass.cpp", "statement.expires <= now", "statement.expires <= now - kLeeway",
        "pass_test"),
    Mutant(
        "a-text-in-other-spelling", "two texts for one pass",
        "src/pass/pass_text.cpp", "|| write_body(*statement) != body", "",
        "pass_test"),
    Mutant(
        "the-last-key-signs", "a rotation that locks visitors out",
        "src/pass/keyring.cpp", "if (by_kid.empty()) signing = key.kid;", "signing = key.kid;",
        "keyring_test"),
]
