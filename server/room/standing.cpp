#include "room/standing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "api/answers.hpp"

namespace airlock::server {
namespace {

using namespace std::chrono_literals;

// The same draw for a visitor however often it joins, which nobody can know before.
std::uint16_t drawn_priority(const Room& room, const GateName& gate, const VisitorId& visitor) {
  const PassContext once = {.bound = "airlock-room-draw", .now = Instant(0)};
  const Token token{.gate = gate, .visitor = visitor};
  const auto digest = VisitorId::named(room.keys.sign_capability(token, 1s, once));
  return static_cast<std::uint16_t>(1 + digest.low % kMaxPriority);
}

airlock::Request request_of(const RoomCall& call, const Asking& asking) {
  const Room& room = *call.room;
  const VisitorId visitor = *call.ticket.visitor;
  Line line{.join = asking.joins,
            .order = room.order,
            .max_waiting = room.max_waiting,
            .patience = room.patience,
            .claim_window = asking.claim_window};
  if (room.order == Order::priority && room.is_early(wall_clock()))
    line.priority = drawn_priority(room, call.gate, visitor);
  return {.gate = call.gate,
          .visitor = visitor,
          .label = "visitor",
          .permits = airlock::Permits{.limit = room.limit, .ttl = room.ttl},
          .rates = room.inflow,
          .line = line,
          .hold = asking.hold};
}

// Before it opens, visitors get places and nobody is let in.
void keep_shut(const Store& store, const RoomCall& call, Instant now) {
  if (!call.room->is_early(now)) return;
  store.pause(call.gate, std::min(*call.room->opens_at - now, kMaxTtl), kOpeningReporter);
}

// A pause for an opening that has been moved, or taken out of the configuration, would last. One that is about to end is
// left alone: at the opening many come here.
void open_early(const Store& store, const RoomCall& call, const LineView& view) {
  constexpr auto kAboutToEnd = 2s;
  const bool is_shut = std::chrono::steady_clock::now() + kAboutToEnd < view.shut_until;
  if (is_shut && !call.room->is_early(wall_clock())) store.resume(call.gate, kOpeningReporter);
}

// A fixed session counts from its fence, which is the time when it was granted.
Duration left_of(const Room& room, const Granted& granted, Duration wanted, Instant now) {
  if (room.is_sliding) return wanted;
  const Instant end = Instant(static_cast<std::int64_t>(granted.token.fence)) + room.ttl;
  return std::min(wanted, end - now);
}

// Gives the session what it may have. False: it has ended meanwhile.
bool extend(const Store& store, const RoomCall& call, const Asking& asking, Granted& granted) {
  const Room& room = *call.room;
  const Duration wanted =
      asking.session == Duration(0) ? room.ttl : std::min(room.ttl, asking.session);
  // A second page of a visitor that is in shortens nothing.
  if (granted.repeated && granted.expires_in >= wanted) return true;
  const Duration left = left_of(room, granted, wanted, wall_clock());
  if (granted.repeated && left <= granted.expires_in) return true;
  if (left <= Duration(0) || store.renew(granted.token, left) == Renewal::gone) return false;
  granted.expires_in = left;
  return true;
}

double progress_of(Duration waited, const std::optional<WaitRange>& wait) {
  if (!wait) return 0;
  const auto left = static_cast<double>((wait->low + wait->high).count()) / 2;
  const auto past = static_cast<double>(waited.count());
  return past + left <= 0 ? 0 : past / (past + left);
}

Standing in_line(const LineView& view, const RoomCall& call, const LineView::Spot& spot) {
  Standing standing{.state = view.is_paused ? Standing::State::paused : Standing::State::waiting,
                    .position = spot.position,
                    .waiting = view.waiting,
                    .wait = expected_wait(spot.position, view.pace)};
  standing.progress = progress_of(spot.waited, standing.wait);
  if (view.is_paused) standing.wait.reset();  // Nobody knows for how long.
  const Instant now = wall_clock();
  if (!call.room->is_early(now)) return standing;
  const Duration until = *call.room->opens_at - now;
  standing.state = Standing::State::early;
  standing.wait = WaitRange{until, until};
  standing.progress = 0;
  if (call.room->order == Order::priority) standing.position = 0;  // Not drawn yet.
  return standing;
}

// The view may be from before this visitor had its place.
Standing queued_standing(const Store& store, const RoomCall& call, const Queued& queued) {
  call.board->note(queued.eta, queued.position);
  const LineViewPtr view = call.board->view(store);
  open_early(store, call, *view);
  const auto seen = view->spots.find(*call.ticket.visitor);
  const Duration waited = seen == view->spots.end() ? Duration(0) : seen->second.waited;
  Standing standing = in_line(*view, call, {.position = queued.position, .waited = waited});
  standing.waiting = queued.waiting;
  standing.next_check = queued.next_check;
  return standing;
}

Standing refused_standing(const Refused& refused) {
  return {.state = refused.reason == Reason::line_full ? Standing::State::full
                                                       : Standing::State::joining};
}

std::pair<std::string_view, std::string_view> headline_of(const RoomCall& call,
                                                          const Standing& standing) {
  const Words& words = *call.words;
  switch (standing.state) {
    case Standing::State::joining:
      return {words.joining, words.joining_detail};
    case Standing::State::waiting:
      if (standing.position == 1) return {words.next, words.next_detail};
      return {words.waiting, words.waiting_detail};
    case Standing::State::admitted:
      return {words.admitted, words.admitted_detail};
    case Standing::State::paused:
      return {words.paused, words.paused_detail};
    case Standing::State::early:
      return {words.early,
              call.room->order == Order::priority ? words.early_detail : words.waiting_detail};
    case Standing::State::ended:
      return {words.ended, words.ended_detail};
    case Standing::State::full:
      return {words.full, words.full_detail};
    case Standing::State::cookies:
      return {words.cookies, words.cookies_detail};
    case Standing::State::outage:
      break;
  }
  return {words.outage, words.outage_detail};
}

double in_seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

}  // namespace

const char* to_text(Standing::State state) noexcept {
  constexpr std::array kTexts = {"joining", "waiting", "admitted", "paused", "early",
                                 "ended",   "full",    "cookies",  "outage"};
  return kTexts[static_cast<std::size_t>(state)];
}

Standing ask_line(const Store& store, const RoomCall& call, const Asking& asking) {
  const Instant now = wall_clock();
  if (call.room->has_ended(now)) return {.state = Standing::State::ended};
  keep_shut(store, call, now);
  const airlock::Request request = request_of(call, asking);
  Answer answer = store.admit(request);
  if (auto* const granted = std::get_if<Granted>(&answer)) {
    if (asking.hold == Hold::bound) store.disown(granted->token);
    if (!extend(store, call, asking, *granted)) return {.state = Standing::State::joining};
    return {.state = Standing::State::admitted, .granted = *granted};
  }
  if (const auto* const refused = std::get_if<Refused>(&answer)) return refused_standing(*refused);
  return queued_standing(store, call, std::get<Queued>(answer));
}

std::optional<Standing> seen_in(const LineView& view, const RoomCall& call) {
  const auto spot = view.spots.find(*call.ticket.visitor);
  if (spot == view.spots.end()) return std::nullopt;
  return in_line(view, call, spot->second);
}

Shown shown(const RoomCall& call, const Standing& standing) {
  const Words& words = *call.words;
  Shown shown;
  std::tie(shown.headline, shown.detail) = headline_of(call, standing);
  if (standing.position != 0) {
    shown.position = number_text(words, standing.position);
    shown.ahead = number_text(words, standing.position - 1);
  }
  const bool is_early = standing.state == Standing::State::early;
  shown.label_wait = is_early ? words.label_opens : words.label_wait;
  shown.wait = wait_text(words, standing.wait);
  constexpr int kHundred = 100;
  shown.percent = static_cast<int>(standing.progress * kHundred);
  return shown;
}

nlohmann::ordered_json standing_json(const RoomCall& call, const Standing& standing) {
  const Shown text = shown(call, standing);
  OrderedJson json = {{"state", to_text(standing.state)}};
  json["position"] = standing.position == 0 ? OrderedJson(nullptr) : OrderedJson(standing.position);
  json["waiting"] = standing.waiting;
  json["wait_seconds"] = nullptr;
  if (standing.wait) {
    json["wait_seconds"] = {{"low", std::floor(in_seconds(standing.wait->low))},
                            {"high", std::ceil(in_seconds(standing.wait->high))}};
  }
  json["progress"] = text.percent;
  if (standing.state == Standing::State::admitted) json["location"] = call.to;
  json["shown"] = {{"headline", text.headline}, {"detail", text.detail},
                   {"position", text.position}, {"ahead", text.ahead},
                   {"wait", text.wait},         {"label_wait", text.label_wait}};
  return json;
}

}  // namespace airlock::server
