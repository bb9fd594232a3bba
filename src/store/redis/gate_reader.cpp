#include "store/redis/gate_reader.hpp"

#include <utility>

#include "store/redis/gate_names.hpp"

namespace airlock::redis {
namespace {

constexpr std::size_t kReadTogether = 16;  // So many gates are read by one call.

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

// Whether the reply to a call for several says something of this one.
bool has_part(const Reply& all, std::size_t at) {
  return all.is_array() && (all.at(at).is_nil() || all.at(at).is_array());
}

template <typename Read, typename Use, typename Failed>
void use_summary(const GateName& gate, const Read& read, const Use& use, const Failed& failed) {
  try {
    use(gate, read());
  } catch (const StoreError& error) {
    if (!failed || error.kind() != StoreError::Kind::incompatible) throw;
    failed(gate, error);
  }
}

}  // namespace

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

Call GateReader::survey_call(Gates gates, std::size_t portion) const {
  Call survey = calls_.make(Step::survey, gates);
  survey.add_number(static_cast<std::int64_t>(portion));
  return survey;
}

// `reply`: of a call for this gate alone, or its part of one for several.
std::optional<Summary> GateReader::summary_of(const GateName& gate, const Reply& reply) {
  if (reply.is_nil()) return std::nullopt;
  Summary summary(gate, summary_parts(reply));
  bool more = has_more(reply);
  for (std::size_t portion = 1; more && summary.is_sound(); ++portion) {
    Call survey = survey_call({&gate, 1}, portion);
    const Reply further = runner_.read(survey);
    if (further.is_nil()) break;
    summary.leave_out(further.at(1).text(), further.at(2).text());
    more = has_more(further);
  }
  if (summary.is_sound()) return summary;
  Visits visits;
  add_visits(gate, "0", visits);
  summary.count(visits);
  return summary;
}

// Those of a call for several that have to be asked for alone go out together.
void GateReader::use_several(Gates gates, const Reply& all, const Summarized& use,
                             const Failed& failed) {
  std::vector<Call> calls;
  for (std::size_t at = 0; at < gates.size(); ++at) {
    if (!has_part(all, at)) calls.push_back(survey_call(gates.subspan(at, 1)));
  }
  const Batch alone = runner_.run_all(calls, runner_.deadline());
  std::size_t next = 0;
  for (std::size_t at = 0; at < gates.size(); ++at) {
    const auto read = [&] {
      return has_part(all, at) ? summary_of(gates[at], all.at(at))
                               : summary_of(gates[at], alone.at(next++));
    };
    use_summary(gates[at], read, use, failed);
  }
}

// Gates of a cluster are read one by one: a script may see one slot.
void GateReader::summarize(Gates gates, const Summarized& use, const Failed& failed) {
  runner_.run_for_each(
      gates, client_.has_one_server() ? kReadTogether : 1,
      [&](Gates some) { return survey_call(some); },
      [&](Gates some, const Batch& batch, std::size_t i) {
        if (some.size() > 1 && batch.replies[i]) {
          return use_several(some, *batch.replies[i], use, failed);
        }
        for (const GateName& gate : some) {
          const auto read = [&] { return summary_of(gate, batch.at(i)); };
          use_summary(gate, read, use, failed);
        }
      });
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
