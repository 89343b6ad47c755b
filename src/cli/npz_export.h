#pragma once

#include "smdebug/trial.h"
#include "src/cli/byte_sink.h"
#include "src/cli/export_query.h"
#include "src/cli/interrupt.h"

namespace smdebug::cli {

// Writes what `query` leaves as a NumPy .npz file: a zip archive with one .npy
// file per array, named "<tensor>/<MODE>/<step in the mode>", with "/<worker>"
// at its end if the run has several and `query` names none. With reductions
// those of each tensor instead, named "<tensor>:<reduction>/...". One value is
// in memory at a time. Stops early if interrupted.
ExportResult ExportNpz(Trial& trial, const ExportQuery& query,
                       const ByteSink& sink, const InterruptScope& interrupt);

}  // namespace smdebug::cli
