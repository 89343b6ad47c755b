#include "src/base/fd.h"

#include <unistd.h>

#include <cerrno>

namespace smdebug::base {

int Fd::Close() noexcept {
  if (fd_ < 0) return 0;
  const int result = close(Release());
  // Linux has closed the descriptor even when a signal interrupted it.
  return result == 0 || errno == EINTR ? 0 : errno;
}

}  // namespace smdebug::base
