#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "airlock/request.hpp"

namespace airlock::contract {

// A request that reads as a sentence and owns what it refers to. Visitors are named; the name is
// also the label.
//
//   Question("ann").at("erp").limit(2).weight(2).ttl(10s).joins()
class Question {
 public:
  explicit Question(std::string name) : name_(std::move(name)) {}

  Question& named(std::string name) { return name_ = std::move(name), *this; }
  Question& at(const GateName& gate) { return gate_ = gate, *this; }

  Question& limit(std::uint32_t limit) { return permits_.limit = limit, *this; }
  Question& weight(std::uint32_t weight) { return permits_.weight = weight, *this; }
  Question& ttl(Duration ttl) { return permits_.ttl = ttl, *this; }
  Question& exclusive() { return permits_.exclusive = true, *this; }
  Question& detached() { return hold_ = Hold::detached, *this; }

  Question& rate(const Rate& rate) { return rates_.push_back(rate), *this; }
  Question& rates(std::vector<Rate> rates) { return rates_ = std::move(rates), *this; }
  Question& rate_only() { return with_permits_ = false, *this; }
  Question& mode(RateMode mode) { return mode_ = mode, *this; }
  Question& cost(std::uint32_t cost) { return cost_ = cost, *this; }
  Question& max_delay(Duration delay) { return max_delay_ = delay, *this; }
  Question& dedupe(Duration dedupe) { return dedupe_ = dedupe, *this; }

  Question& joins() { return line_.join = true, *this; }
  Question& returns() { return line_.returning = true, *this; }
  Question& order(Order order) { return line_.order = order, *this; }
  Question& priority(std::uint16_t priority) { return line_.priority = priority, *this; }
  Question& barges() { return line_.barging = true, *this; }
  Question& max_waiting(std::uint32_t count) { return line_.max_waiting = count, *this; }
  Question& patience(Duration patience) { return line_.patience = patience, *this; }
  Question& claim_window(Duration window) { return line_.claim_window = window, *this; }
  Question& max_eta(Duration eta) { return line_.max_eta = eta, *this; }
  Question& aging(const Aging& aging) { return line_.aging = aging, *this; }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const GateName& gate() const { return gate_; }
  [[nodiscard]] VisitorId visitor() const { return VisitorId::named(name_); }

  // Valid as long as this is.
  [[nodiscard]] Request request() const {
    Request request{.gate = gate_, .visitor = visitor(), .label = name_};
    if (with_permits_) request.permits = permits_;
    request.rates = rates_;
    request.mode = mode_;
    request.cost = cost_;
    request.max_delay = max_delay_;
    request.dedupe = dedupe_;
    request.line = line_;
    request.hold = hold_;
    return request;
  }

 private:
  std::string name_;
  GateName gate_ = "gate";
  Permits permits_ = {.limit = 1};
  bool with_permits_ = true;
  std::vector<Rate> rates_;
  RateMode mode_ = RateMode::take;
  std::uint32_t cost_ = 1;
  Duration max_delay_ = kForever;
  Duration dedupe_{0};
  Line line_;
  Hold hold_ = Hold::bound;
};

}  // namespace airlock::contract
