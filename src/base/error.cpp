#include "airlock/error.hpp"

namespace airlock {

// Out of line, so that every binary shares one type information and catches what another threw.
Error::~Error() = default;
InvalidArgument::~InvalidArgument() = default;
StoreError::~StoreError() = default;
SealAcquiringError::~SealAcquiringError() = default;
SealReleasingError::~SealReleasingError() = default;
LeaseExpiredError::~LeaseExpiredError() = default;

}  // namespace airlock
