#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "smdebug/run.h"
#include "smdebug/storage.h"
#include "src/query/json.h"
#include "src/query/run_summary.h"

namespace smdebug::query {

// Sums over the workers.
struct RunTotals {
  int64_t first_step = -1;
  int64_t last_step = -1;
  int64_t values = 0;
  uint64_t bytes = 0;
  int64_t ledgers = 0;
  HookStats stats = {};  // As the ledgers have them; 0 where there is none.
};

// What a run holds and how it fares, at one moment.
struct RunStatus {
  std::string run;  // The root of its store.
  double now = 0;   // When it was asked, in seconds since the epoch.
  RunTotals totals = {};
  RunSummary summary = {};

  // Whether nothing is damaged, dropped, lost or failed.
  bool well() const;
};

// As `summary`, which is of `run`, tells at `now`. Pure.
RunStatus StatusOf(RunSummary summary, std::string run, double now);

// Reads the run as SummarizeRun() does, and throws as it does.
RunStatus ReadStatus(const Storage& storage, double now);

// As `smdebug status --json` has it (docs/reference/cli.md).
Json ToJson(const RunStatus& status);

}  // namespace smdebug::query
