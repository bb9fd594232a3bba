#pragma once

#include <cstddef>

namespace airlock::redis {

// Where the fields of a visit are in its packed record, in bytes from its start: those that this side
// reads. From lua/records.list, as all that scripts say of records.
struct VisitLayout {
  std::size_t state;
  std::size_t hold;
  std::size_t priority;
  std::size_t weight;
  std::size_t slot;
  std::size_t fence;
  std::size_t revoked;
  std::size_t expiry;
  std::size_t granted;
  std::size_t joined;
  std::size_t patience_end;
  std::size_t place;
  std::size_t channel;  // Its length and its text, and then those of the label.
};

extern const VisitLayout kVisitLayout;

}  // namespace airlock::redis
