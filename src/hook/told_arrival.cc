#include <utility>

#include "smdebug/error.h"
#include "smdebug/internal/arriving.h"

namespace smdebug::internal {

bool ToldArrival::Await(std::chrono::milliseconds most) {
  std::unique_lock lock(mu_);
  told_.wait_for(lock, most, [this] { return is_there_ || !failure_.empty(); });
  if (!failure_.empty()) throw Error("the device " + failure_);
  return is_there_;
}

void ToldArrival::Tell() {
  {
    const std::lock_guard lock(mu_);
    is_there_ = true;
  }
  told_.notify_all();
}

void ToldArrival::Fail(std::string reason) {
  {
    const std::lock_guard lock(mu_);
    failure_ = std::move(reason);
  }
  told_.notify_all();
}

}  // namespace smdebug::internal
