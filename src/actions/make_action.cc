#include "smdebug/action.h"
#include "src/actions/exec.h"
#include "src/actions/message.h"
#include "src/actions/spec.h"
#include "src/actions/stop.h"

namespace smdebug {

std::unique_ptr<Action> MakeAction(const ActionSpec& spec,
                                   const ActionOptions& options) {
  actions::CheckTarget(spec);
  const actions::TransferLimits limits{.timeout = options.timeout,
                                       .attempts = options.attempts,
                                       .backoff = options.backoff};
  switch (spec.kind) {
    case ActionKind::kStop:
      return actions::MakeStop(spec, options.grace);
    case ActionKind::kEmail:
      return actions::MakeEmail(spec, limits);
    case ActionKind::kSms:
      return actions::MakeSms(spec, limits);
    case ActionKind::kWebhook:
      return actions::MakeWebhook(spec, limits);
    case ActionKind::kExec:
      return actions::MakeExec(spec, options.exec_timeout);
  }
  return nullptr;
}

}  // namespace smdebug
