#include "airlock/error.hpp"

#include "airlock/outcome.hpp"

namespace airlock {

// Out of line, so that every binary shares one type information and catches what another threw.
Error::~Error() = default;
InvalidArgument::~InvalidArgument() = default;
StoreError::~StoreError() = default;
SealAcquiringError::~SealAcquiringError() = default;
SealReleasingError::~SealReleasingError() = default;
LeaseExpiredError::~LeaseExpiredError() = default;

BadOutcomeAccess::BadOutcomeAccess(const Refused& refused)
    : Error(std::string("value() of an outcome that is a refusal: ") + to_text(refused.reason) +
            "; check has_value() first"),
      refused_(refused) {}
BadOutcomeAccess::~BadOutcomeAccess() = default;

}  // namespace airlock
