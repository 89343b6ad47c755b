#pragma once

#include <functional>
#include <string_view>

#include "smdebug/trial.h"
#include "src/query/export_query.h"

namespace smdebug::query {

// Takes the lines of a CSV file, and tells whether it wants more.
using LineSink = std::function<bool(std::string_view)>;

// Writes what `query` leaves as lines "step,mode,mode_step,worker,tensor,value"
// under a line of these titles, or nothing at all: the element of a tensor that
// has one, else its reductions, as "<tensor>:<reduction>": those asked for, or,
// where there is no value, all that were saved. Stops early if go_on(), which
// is asked before each entry, says no.
//
// Throws Error, before any line where it can, for a tensor of several elements
// if no reduction was asked for.
ExportResult ExportCsv(Trial& trial, const ExportQuery& query,
                       const LineSink& sink,
                       const std::function<bool()>& go_on);

}  // namespace smdebug::query
