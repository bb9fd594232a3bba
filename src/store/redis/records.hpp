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

// The same of a gate.
struct MetaLayout {
  std::size_t forgotten;
  std::size_t order;
  std::size_t offset;
  std::size_t override_limit;
  std::size_t lone;
  std::size_t last;
  std::size_t used;
  std::size_t next_due;
  std::size_t fence;
  std::size_t in_use;
  std::size_t holders;
  std::size_t visits;
  std::size_t waiters;
  std::size_t limit;
  std::size_t exclusive;
  std::size_t disagree;
  std::size_t quick;
};

extern const MetaLayout kMetaLayout;

}  // namespace airlock::redis
