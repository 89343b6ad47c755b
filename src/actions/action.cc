#include "smdebug/action.h"

#include <fmt/format.h>

namespace smdebug {

ActionError::ActionError(std::string_view action, std::string_view reason)
    : Error(fmt::format("{}: {}", action, reason)),
      action_(action),
      reason_(reason) {}

std::string_view ResultName(ActionOutcome::Result result) noexcept {
  switch (result) {
    case ActionOutcome::Result::kDone:
      return "done";
    case ActionOutcome::Result::kFailed:
      return "failed";
    case ActionOutcome::Result::kDryRun:
      return "dry run";
    case ActionOutcome::Result::kSuppressed:
      return "suppressed";
  }
  return "";
}

}  // namespace smdebug
