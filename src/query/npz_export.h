#pragma once

#include <functional>

#include "smdebug/trial.h"
#include "src/query/byte_sink.h"
#include "src/query/export_query.h"

namespace smdebug::query {

// Writes what `query` leaves as a NumPy .npz file: a zip archive with one .npy
// file per array, named "<tensor>/<MODE>/<step in the mode>", with "/<worker>"
// at its end if the run has several and `query` names none. With reductions
// those of each tensor instead, named "<tensor>:<reduction>/...". One value is
// in memory at a time; without any, nothing is written. Stops early if
// go_on(), which is asked before each entry, says no.
ExportResult ExportNpz(Trial& trial, const ExportQuery& query,
                       const ByteSink& sink,
                       const std::function<bool()>& go_on);

}  // namespace smdebug::query
