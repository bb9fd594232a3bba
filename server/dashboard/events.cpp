#include "dashboard/events.hpp"

#include <fnmatch.h>

#include <utility>

#include "api/fields.hpp"
#include "dashboard/json_text.hpp"
#include "http/loop.hpp"
#include "operations/address_caps.hpp"
#include "rights/require.hpp"

namespace airlock::server {
namespace {

// A client that has taken nothing through so many snapshots gets all there is: what it has seen last is not kept for it.
constexpr int kMaxSkipped = 10;

// A client that is sent away comes back after this, and up to as much again, so that not all come at once.
constexpr const char* kDraining = R"({"reason":"draining","retry_seconds":2})";
constexpr const char* kRightsEnded = R"({"reason":"rights","retry_seconds":2})";

void append_findings(std::string& out, const Snapshot& snapshot) {
  out += ",\"findings\":[";
  for (const Finding& finding : snapshot.findings) {
    out += out.back() == '[' ? "{\"level\":" : ",{\"level\":";
    append_text(out, to_text(finding.level));
    out += ",\"what\":";
    append_text(out, finding.what);
    out += ",\"remedy\":";
    append_text(out, finding.remedy);
    out += "}";
  }
  out += "]";
}

void append_comma(std::string& out) {
  if (out.back() != '[') out += ",";
}

}  // namespace

bool GateFilter::includes(const std::string& gate) const {
  if (grants != Grants::all() && !grants->allows(Role::observe, gate)) return false;
  if (!gates.empty() && !gates.contains(gate)) return false;
  return match == "*" || fnmatch(match.c_str(), gate.c_str(), 0) == 0;
}

std::string changes_json(const Snapshot* before, const Snapshot& now, const GateFilter& filter) {
  std::string out = "{\"now\":";
  append_number(out, static_cast<std::uint64_t>(now.epoch_seconds));
  out += ",\"period_seconds\":";
  append_number(out, now.period_seconds);
  out += before == nullptr ? ",\"reset\":true" : ",\"reset\":false";
  out += ",\"store_error\":";
  now.failure.empty() ? static_cast<void>(out += "null") : append_text(out, now.failure);
  append_findings(out, now);
  out += ",\"changed\":[";
  std::string removed = "[";
  const std::vector<GateRowPtr> none;
  const auto& old = before == nullptr ? none : before->rows;
  auto next = old.begin();
  const auto remove_until = [&](const std::string* name) {
    for (; next != old.end() && (name == nullptr || (*next)->name < *name); ++next) {
      if (!filter.includes((*next)->name)) continue;
      append_comma(removed);
      append_text(removed, (*next)->name);
    }
  };
  for (const GateRowPtr& row : now.rows) {
    remove_until(&row->name);
    const bool is_known = next != old.end() && (*next)->name == row->name;
    const bool is_same = is_known && *next == row;
    if (is_known) ++next;
    if (is_same || !filter.includes(row->name)) continue;
    append_comma(out);
    out += row->json;
  }
  remove_until(nullptr);
  return out += "],\"removed\":" + removed + "]}";
}

void Viewer::start(Sampler& sampler, const ExchangePtr& exchange, GateFilter filter) {
  take_waiting_place(*exchange);
  const auto viewer = std::make_shared<Viewer>(sampler, exchange, std::move(filter));
  const auto changed = [weak = viewer->weak_from_this(), &loop = viewer->loop_] {
    loop.post([weak] {
      if (const auto self = weak.lock()) self->show();
    });
  };
  if (!sampler.watch(viewer, changed))
    return exchange->answer(problem(503, "too many watch already; at most 64 may at once"));
  exchange->on_end([viewer](Exchange::End end) { viewer->on_end(end); });
  exchange->begin_stream();
  changed();
}

Viewer::Viewer(Sampler& sampler, const ExchangePtr& exchange, GateFilter filter)
    : sampler_(sampler),
      exchange_(exchange),
      loop_(exchange->loop()),
      filter_(std::move(filter)),
      config_(loop_.config_pointer()) {}

// What a reload has taken from a caller would else be shown until it goes, and dashboards are open for days.
bool Viewer::may_watch() {
  if (std::exchange(config_, loop_.config_pointer()) == loop_.config_pointer()) return true;
  try {
    authenticate(*exchange_);
    require_somewhere(*exchange_, Role::observe);
  } catch (const Rejection&) {
    return false;
  }
  filter_.grants = exchange_->peer().grants;
  shown_ = nullptr;
  return true;
}

void Viewer::send_away(const char* reason) {
  is_over_ = true;
  shown_ = nullptr;
  exchange_->send_event("end", reason);
  exchange_->end_stream();
}

void Viewer::show() {
  const SnapshotPtr snapshot = sampler_.snapshot();
  if (is_over_ || snapshot == nullptr || snapshot == shown_) return;
  if (!may_watch()) return send_away(kRightsEnded);
  if (exchange_->unsent() != 0) {
    if (++skipped_ == kMaxSkipped) shown_ = nullptr;
    return;
  }
  skipped_ = 0;
  const SnapshotPtr before = std::exchange(shown_, snapshot);
  exchange_->send_event("state", changes_json(before.get(), *snapshot, filter_));
}

void Viewer::on_end(Exchange::End end) {
  is_over_ = true;
  shown_ = nullptr;
  if (end == Exchange::End::drained) send_away(kDraining);
}

}  // namespace airlock::server
