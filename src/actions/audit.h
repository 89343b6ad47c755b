#pragma once

#include <string>
#include <string_view>

#include "smdebug/action.h"
#include "smdebug/storage.h"

namespace smdebug::actions {

// From this size on a part is left as it is.
inline constexpr size_t kFullPartBytes = size_t{256} << 10;

// One line of the audit trail, with the line feed.
std::string AuditLine(const Firing& firing, const ActionOutcome& outcome,
                      double wall_seconds);

// Adds a line to the audit trail of a run. Stores cannot append, so the newest
// part is replaced by itself and the line if nobody has changed it since it was
// read, and read again if someone has: lines of several processes neither mix
// nor get lost. A full part is followed by another,
// "rules/actions-000002.jsonl" and so on, so that a line costs no more than one
// part. Throws IoError.
void AddToAudit(Storage& run, std::string_view line);

}  // namespace smdebug::actions
