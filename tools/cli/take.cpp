#include <chrono>
#include <thread>

#include "airlock/error.hpp"
#include "checked_output.hpp"
#include "command.hpp"
#include "entry.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

struct Take : Entry {
  bool json = false;
};

Request request_of(const Take& options) {
  const bool waits = !options.nonblock && options.wait > Duration(0);
  return {.gate = *options.gate,
          .visitor = VisitorId::random(),
          .rates = options.rates,
          .mode = waits ? RateMode::reserve : RateMode::take,
          .cost = options.cost,
          .max_delay = waits ? options.wait : kForever};
}

Json described(const Answer& answer) {
  const auto* const granted = std::get_if<Granted>(&answer);
  const auto* const refused = std::get_if<Refused>(&answer);
  const RateInfo rate = granted != nullptr ? granted->rate : refused->rate;
  Json json = {{"granted", granted != nullptr}};
  if (granted != nullptr) json["delay_seconds"] = seconds(granted->delay);
  if (refused != nullptr) json["reason"] = to_text(refused->reason);
  json["limit"] = rate.limit;
  json["remaining"] = rate.remaining;
  json["retry_after_seconds"] = seconds(rate.retry_after);
  json["reset_after_seconds"] = seconds(rate.reset_after);
  return json;
}

// By rate alone: nothing is held, and time gives it back. Who waits has reserved its turn.
int take(const Command& command, Take& options) {
  if (options.rates.empty()) throw InvalidArgument("take: --rate is needed");
  const Answer answer = command.open().admit(request_of(options));
  if (options.json) write_output(described(answer).dump() + "\n");
  if (const auto* const refused = std::get_if<Refused>(&answer)) {
    throw Exit{options.conflict_status, options.json ? "" : why(*refused, options)};
  }
  std::this_thread::sleep_for(std::get<Granted>(answer).delay);
  return 0;
}

}  // namespace

void add_take(CLI::App& app, Command& command) {
  const auto options = std::make_shared<Take>();
  options->wait = Duration(0);
  CLI::App& take_app =
      add_subcommand(app, command, "take",
                     "Asks a rate limit once: status 0, or 75 if it is too soon", options, &take);
  add_rate_options(take_app, *options);
  add_duration(take_app, "-w,--wait", options->wait, "Waits at most this long for its turn [0s]");
  add_number(take_app, "--cost", options->cost, 1, 1U << 31, "How much is taken [1]");
  add_conflict_status(take_app, *options);
  take_app.add_flag("--json", options->json, "What was decided, for programs");
  add_gate(take_app, options->gate);
}

}  // namespace airlock::cli
