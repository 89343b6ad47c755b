#include "src/hook/fail_open.h"

#include <string>
#include <utility>

namespace smdebug::hook {

void FailOpen::Keep(std::string_view kind, const std::exception_ptr& error) {
  std::string what = "unknown error";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    what = known.what();
  } catch (...) {
    // Not ours; counted under the text above.
  }
  tally_->AddError(kind, what);
  const base::MutexLock lock(mu_);
  if (kept_ == nullptr) kept_ = error;
}

bool FailOpen::LeaveOut(std::string_view name, std::string_view reason) {
  if (strict_) return true;
  tally_->AddLeftOut(name, reason);
  return false;
}

void FailOpen::ThrowKept() {
  std::exception_ptr error;
  {
    const base::MutexLock lock(mu_);
    error = std::exchange(kept_, nullptr);
  }
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace smdebug::hook
