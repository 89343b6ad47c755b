#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/steps/run_summary.h"

namespace smdebug::cli {

// How a run stands, as far as its files tell.
enum class RunState {
  kFinished,   // Has the end marker, or every worker has closed.
  kRunning,    // An open worker wrote its ledger lately.
  kNotClosed,  // An open worker has been silent for longer than that.
  kUnknown,    // No end marker, and no ledger to tell more (smdebug 1.0).
};

// An open worker that wrote its ledger within this time counts as running. A
// living one writes it at least once a minute.
inline constexpr double kRunningSeconds = 120;

// "finished", "running", "not_closed" or "unknown".
std::string_view StateName(RunState state);

// The run at the time `now`, in seconds since the epoch.
RunState StateOf(const index::RunSummary& summary, double now);

// Sums over the workers; what comes from ledgers is 0 where there is none.
struct RunTotals {
  int64_t first_step = -1;
  int64_t last_step = -1;
  int64_t tensors = 0;
  uint64_t bytes = 0;
  int64_t ledgers = 0;
  int64_t scalars = 0;
  int64_t stalls = 0;
  double stalled_seconds = 0;
  int64_t dropped = 0;
  int64_t skipped = 0;
  int64_t errors = 0;
  int64_t lost = 0;
};
RunTotals TotalsOf(const index::RunSummary& summary);

// Whether nothing is damaged, dropped, lost or failed.
bool IsWell(const index::RunSummary& summary);

// One screen for a person. Control characters in names and messages, which
// come from files, are shown as '?'.
std::string StatusText(const index::RunSummary& summary, std::string_view run,
                       double now);

// The same numbers as one JSON object (docs/reference/cli.md).
std::string StatusJson(const index::RunSummary& summary, std::string_view run,
                       double now);

}  // namespace smdebug::cli
