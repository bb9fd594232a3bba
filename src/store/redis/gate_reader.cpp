#include "store/redis/gate_reader.hpp"

#include <algorithm>
#include <utility>

#include "store/redis/gate_names.hpp"
#include "store/redis/gate_record.hpp"

namespace airlock::redis {
namespace {

constexpr std::size_t kReadTogether = 16;  // So many gates are read by one call,
constexpr std::size_t kPortion = 512;      // and so many before the unusual ones of them are.

std::vector<std::string_view> texts(const Reply& array) {
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < array.size(); ++i) all.push_back(array.at(i).text());
  return all;
}

LookParts look_parts(const Reply& reply) {
  return {.head = reply.at(0).text(),
          .rates = texts(reply.at(3)),
          .pauses = reply.at(4).text(),
          .now = reply.at(5).text()};
}

Summary::Parts summary_parts(const Reply& reply) {
  return {.look = {.head = reply.at(0).text(),
                   .rates = texts(reply.at(3)),
                   .pauses = reply.at(4).text(),
                   .now = reply.at(1).text()},
          .rest = reply.at(1).text(),
          .ended = reply.at(2).text(),
          .holder = texts(reply.at(5))};
}

bool has_more(const Reply& reply) {
  Unpacker head(reply.at(0).text());
  return read_head(head).more;
}

// Fields and values in turn, as HSCAN gives them.
void add_all(const Reply& fields, Visits& visits) {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    visits.add(fields.at(i).text(), fields.at(i + 1).text());
  }
}

GateRecord::Parts record_parts(const Reply& reply) {
  return {.meta = reply.at(0).text(),
          .counters = reply.at(1).text(),
          .holder = reply.at(2).text(),
          .rates = texts(reply.at(3)),
          .pauses = reply.at(4).text()};
}

}  // namespace

// Its part of a reply for several. What cannot be read here is left to lua/survey.lua to explain.
GateReader::Reading GateReader::reading_of(const GateName& gate, const Reply& reply,
                                           std::size_t at) try {
  if (!reply.is_array()) return {};
  const Reply part = reply.at(1).at(at);
  if (part.is_nil()) return {.is_known = true};
  if (!part.is_array()) return {};
  const GateRecord record(record_parts(part), Unpacker(reply.at(0).text()).number());
  if (record.is_forgotten()) return {.is_known = true};
  if (!record.is_usual()) return {};
  return {.is_known = true, .summary = record.summary(gate)};
} catch (const StoreError&) {
  return {};
}

std::optional<GateView> GateReader::look(const GateName& gate) {
  Call look = calls_.make(Step::look, gate);
  const StepResult result = runner_.run(look, gate);
  if (result.reply.is_nil()) return std::nullopt;
  const LookParts parts = look_parts(result.reply);
  GateView view = read_view(gate, parts);
  Visits visits;
  add_all(result.reply.at(1), visits);
  if (const auto cursor = result.reply.at(2).text(); cursor != "0") {
    add_visits(gate, std::string(cursor), visits);
  }
  visits.show_in(view, Unpacker(parts.now).duration());
  return view;
}

void GateReader::add_visits(const GateName& gate, std::string cursor, Visits& visits) {
  do {
    Call more = calls_.make(Step::visits, gate);
    const Reply portion = runner_.read(more.add(cursor));
    add_all(portion.at(1), visits);
    cursor = portion.at(0).text();
  } while (cursor != "0" && !cursor.empty());
}

Call GateReader::survey_call(const GateName& gate, std::size_t portion) const {
  Call survey = calls_.make(Step::survey, gate);
  survey.add_number(static_cast<std::int64_t>(portion));
  return survey;
}

GateReader::Reading GateReader::survey_of(const GateName& gate, const Batch& batch,
                                          std::size_t call) try {
  const Reply& reply = batch.at(call);
  if (reply.is_nil()) return {.is_known = true};
  Summary summary(gate, summary_parts(reply));
  bool more = has_more(reply);
  for (std::size_t portion = 1; more && summary.is_sound(); ++portion) {
    Call survey = survey_call(gate, portion);
    const Reply further = runner_.read(survey);
    if (further.is_nil()) break;
    summary.leave_out(further.at(1).text(), further.at(2).text());
    more = has_more(further);
  }
  if (!summary.is_sound()) {
    Visits visits;
    add_visits(gate, "0", visits);
    summary.count(visits);
  }
  return {.is_known = true, .summary = std::move(summary)};
} catch (const StoreError& error) {
  if (error.kind() != StoreError::Kind::incompatible) throw;
  return {.is_known = true, .failure = Failure::of(error)};
}

void GateReader::survey_rest(Gates gates, std::vector<Reading>& readings) {
  std::vector<GateName> rest;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    if (readings[i].is_known) continue;
    rest.push_back(gates[i]);
    places.push_back(i);
  }
  auto place = places.begin();
  runner_.run_for_each(
      rest, 1, [&](Gates one) { return survey_call(one.front()); },
      [&](Gates one, const Batch& batch, std::size_t call) {
        readings[*place++] = survey_of(one.front(), batch, call);
      });
}

// Gates of a cluster are read one by one: a script may see one slot.
std::vector<GateReader::Reading> GateReader::read_portion(Gates gates) {
  std::vector<Reading> readings(gates.size());
  auto reading = readings.begin();
  runner_.run_for_each(
      gates, client_.has_one_server() ? kReadTogether : 1,
      [&](Gates some) { return calls_.read_gates(some); },
      [&](Gates some, const Batch& batch, std::size_t call) {
        const std::optional<Reply>& reply = batch.replies[call];
        if (!reply) throw StoreError(batch.failure->error());
        for (std::size_t i = 0; i < some.size(); ++i) *reading++ = reading_of(some[i], *reply, i);
      });
  survey_rest(gates, readings);
  return readings;
}

void GateReader::summarize(Gates gates, const Summarized& use, const Failed& failed) {
  while (!gates.empty()) {
    const Gates some = gates.first(std::min(gates.size(), kPortion));
    gates = gates.subspan(some.size());
    std::vector<Reading> readings = read_portion(some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!readings[i].failure) {
        use(some[i], std::move(readings[i].summary));
      } else if (failed) {
        failed(some[i], readings[i].failure->error());
      } else {
        throw StoreError(readings[i].failure->error());
      }
    }
  }
}

std::vector<GateCounts> GateReader::counts(std::span<const GateName> gates) {
  std::vector<GateCounts> all;
  all.reserve(gates.size());
  leases_.release_noted(gates);
  summarize(gates, [&](const GateName& /*gate*/, std::optional<Summary> summary) {
    all.push_back(summary ? summary->view.counts : GateCounts{});
  });
  return all;
}

std::vector<GateSummary> GateReader::survey(
    const std::function<bool(std::string_view gate)>& include) {
  std::vector<GateName> gates = scan_gates(client_, calls_.naming(), options_);
  std::erase_if(gates, [&](const GateName& gate) { return !include(gate.view()); });
  std::vector<GateSummary> all;
  summarize(
      gates,
      [&](const GateName& /*gate*/, std::optional<Summary> summary) {
        if (summary && !summary->is_idle()) all.push_back({.gate = std::move(summary->view)});
      },
      [&](const GateName& gate, const StoreError& error) {
        all.push_back({.gate = {.name = gate.text()}, .unreadable = error.what()});
      });
  return all;
}

std::vector<std::string> GateReader::list() {
  std::vector<std::string> names;
  for (GateSummary& summary : survey([](std::string_view) { return true; }))
    names.push_back(std::move(summary.gate.name));
  return names;
}

}  // namespace airlock::redis
