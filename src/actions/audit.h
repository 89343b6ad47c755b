#pragma once

#include <string>
#include <string_view>

#include "smdebug/action.h"

namespace smdebug::actions {

inline constexpr std::string_view kAuditKey = "rules/actions.jsonl";

// One line of the audit trail, with the line feed.
std::string AuditLine(const Firing& firing, const ActionOutcome& outcome,
                      double wall_seconds);

// Appends a line to the audit trail of the run in a local folder. Lines of
// several processes do not mix. The folder of a run that has not begun is not
// made. Throws IoError.
void AppendAudit(const std::string& run, std::string_view line);

}  // namespace smdebug::actions
