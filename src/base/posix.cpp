#include "base/posix.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include "airlock/error.hpp"

namespace airlock::base {
namespace {

StoreError::Kind kind_of(int error) {
  switch (error) {
    case EAGAIN:
    case ETIMEDOUT:
    case EINTR:
      return StoreError::Kind::busy;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return StoreError::Kind::no_room;
    case EACCES:
    case EPERM:
    case EROFS:
    case EINVAL:
    case ENOSYS:
    case EOPNOTSUPP:
      return StoreError::Kind::incompatible;
    default:
      return StoreError::Kind::unavailable;
  }
}

}  // namespace

void throw_errno(const char* call, int error) {
  std::string text = call;
  text += ": ";
  text += std::generic_category().message(error);
  throw StoreError(kind_of(error), StoreError::Outcome::nothing_happened, text);
}

}  // namespace airlock::base
