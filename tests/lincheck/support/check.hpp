#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "lincheck/support/history.hpp"

namespace airlock::lincheck {

enum class Verdict {
  explained,
  wrong,    // Whatever the order, somebody was told what cannot be.
  gave_up,  // Too many orders to try.
};

// The moments between which an operation happened, given those that are put before it.
struct Span {
  Time earliest;
  Time latest;
};

// Looks for an order of the operations in which every answer is right, none is before its call or
// after its return, and each unanswered one is at any place after its call or left out. The method of
// Wing and Gong, with Lowe's memory of what was tried: the same operations done and the same state
// need no second look.
//
// A model says what is right:
//
//   Model::State                            ordered, so that it can be remembered
//   Model::start()                          of a gate that nobody has used
//   Model::after(state, operation, span)    all states that it may lead to; none: not with this answer
template <typename Model>
class Search {
 public:
  using State = typename Model::State;

  Search(const Model& model, History history, std::size_t max_states)
      : model_(model), history_(std::move(history)), max_states_(max_states) {
    std::ranges::stable_sort(history_, {}, &Operation::called);
    done_.resize((history_.size() + 63) / 64);
    deaths_.resize(history_.size(), kNone);
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if (history_[i].is_answered()) ++unexplained_;
      if (history_[i].kind == Kind::death) note_death(i);
    }
  }

  Verdict run() {
    const bool explained = extend(model_.start(), 0, 0);
    if (explained) return Verdict::explained;
    return gave_up_ ? Verdict::gave_up : Verdict::wrong;
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  void note_death(std::size_t death) {
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if (i != death && history_[i].client == history_[death].client) deaths_[i] = death;
    }
  }

  [[nodiscard]] bool is_done(std::size_t i) const { return (done_[i / 64] >> i % 64 & 1) != 0; }
  void flip(std::size_t i) {
    done_[i / 64] ^= std::uint64_t{1} << i % 64;
    if (history_[i].is_answered()) is_done(i) ? --unexplained_ : ++unexplained_;
  }

  // What is answered first must come before what is called after that.
  [[nodiscard]] Time first_return(std::size_t first) const {
    Time latest = kNever;
    for (std::size_t i = first; i < history_.size() && history_[i].called <= latest; ++i) {
      if (!is_done(i)) latest = std::min(latest, history_[i].returned);
    }
    return latest;
  }

  // Whether what is left can be put after what is done. Everything before `first` is done.
  bool extend(const State& state, std::size_t first, Time earliest) {
    if (unexplained_ == 0) return true;
    if (!tried_.emplace(done_, state).second) return false;
    if (tried_.size() > max_states_) gave_up_ = true;
    while (is_done(first)) ++first;
    const Time latest = first_return(first);
    for (const bool answered : {true, false}) {
      for (std::size_t i = first; i < history_.size() && history_[i].called <= latest; ++i) {
        if (gave_up_) return false;
        if (is_done(i) || history_[i].is_answered() != answered) continue;
        if (deaths_[i] != kNone && is_done(deaths_[i])) continue;  // The dead do nothing.
        if (put_next(i, state, first, {std::max(earliest, history_[i].called), latest}))
          return true;
      }
    }
    return false;
  }

  bool put_next(std::size_t i, const State& state, std::size_t first, Span span) {
    for (const State& next : model_.after(state, history_[i], span)) {
      if (!history_[i].is_answered() && next == state) continue;  // As well left out.
      flip(i);
      if (extend(next, first, span.earliest)) return true;
      flip(i);
    }
    return false;
  }

  const Model& model_;
  History history_;
  const std::size_t max_states_;
  std::vector<std::uint64_t> done_;  // A bit per operation.
  std::vector<std::size_t> deaths_;  // Of the client of each operation.
  std::size_t unexplained_ = 0;      // Answered and not done.
  std::set<std::pair<std::vector<std::uint64_t>, State>> tried_;
  bool gave_up_ = false;
};

inline constexpr std::size_t kMaxStates = 200'000;

template <typename Model>
[[nodiscard]] Verdict check(const Model& model, const History& history,
                            std::size_t max_states = kMaxStates) {
  return Search<Model>(model, history, max_states).run();
}

}  // namespace airlock::lincheck
