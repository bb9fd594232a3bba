#include "store/redis/admin.hpp"

#include <string>

#include "store/redis/examine.hpp"
#include "store/redis/gate_names.hpp"
#include "store/validate.hpp"

namespace airlock::redis {

void Admin::set_limit(const GateName& gate, std::optional<std::uint32_t> limit) {
  if (limit) validate_limit(*limit);
  Call set = calls_.make(Step::set_limit, gate);
  (void)runner_.run(set.add_number(limit ? std::int64_t{*limit} : -1), gate);
}

void Admin::pause(const GateName& gate, Duration duration, std::string_view reporter) {
  validate_pause(duration, reporter);
  Call pause = calls_.make(Step::pause, gate);
  (void)runner_.run(pause.add_number(duration.count()).add(reporter), gate);
}

bool Admin::resume(const GateName& gate, std::string_view reporter) {
  Call resume = calls_.make(Step::resume, gate);
  return runner_.run(resume.add(reporter), gate).happened();
}

// In portions, each with a deadline of its own: it goes on for as long as there are more.
std::size_t Admin::revoke(const GateName& gate, const std::optional<VisitorId>& visitor,
                          Revoke how) {
  std::size_t count = 0;
  std::string rest;  // Where the script goes on.
  do {
    Call revoke = calls_.make(Step::revoke, gate);
    revoke.add(visitor ? pack_visitor(*visitor) : "").add(how == Revoke::now ? "1" : "0");
    const StepResult result =
        runner_.run(revoke.add(rest), gate,
                    how == Revoke::now ? RetryPolicy::if_nothing_happened : RetryPolicy::always);
    Unpacker fields = result.fields();
    count += fields.whole<std::size_t>();
    rest = fields.rest();
  } while (!rest.empty());
  return count;
}

bool Admin::purge(const GateName& gate) {
  bool is_known = false;
  for (bool more = true; more;) {
    Call purge = calls_.make(Step::purge, gate);
    const StepResult result = runner_.run(purge, gate);
    is_known = is_known || result.happened();
    Unpacker fields = result.fields();
    (void)fields.flag();
    more = !fields.rest().empty();
  }
  return is_known;
}

void Admin::collect() {
  runner_.run_for_each(
      scan_gates(client_, calls_.naming(), options_), 1,
      [&](StepRunner::Gates gate) {
        Call settle = calls_.make(Step::settle, gate.front());
        settle.add("1");
        return settle;
      },
      [](StepRunner::Gates /*gate*/, const Batch& batch, std::size_t i) {
        try {
          (void)batch.at(i);
        } catch (const StoreError& error) {
          if (error.kind() != StoreError::Kind::incompatible) throw;
        }
      });
}

std::vector<Finding> Admin::examine() {
  const GateName gate = "airlock-doctor-rights";
  Call rights = calls_.make(Step::rights, gate);
  rights.add(notifications_.channel_name(gate));
  const auto can_hear = [&] { return notifications_.can_hear(gate, Deadline(options_.timeout)); };
  return redis::examine(client_, options_, rights, can_hear);
}

}  // namespace airlock::redis
