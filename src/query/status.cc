#include "src/query/status.h"

#include <algorithm>
#include <utility>

namespace smdebug::query {
namespace {

RunTotals TotalsOf(const RunSummary& summary) {
  RunTotals totals;
  for (const WorkerSummary& worker : summary.workers) {
    if (worker.first_step >= 0 &&
        (totals.first_step < 0 || worker.first_step < totals.first_step)) {
      totals.first_step = worker.first_step;
    }
    totals.last_step = std::max(totals.last_step, worker.last_step);
    totals.values += worker.values;
    totals.bytes += worker.bytes;
    if (!worker.ledger) continue;
    ++totals.ledgers;
    totals.stats += worker.stats();
  }
  return totals;
}

}  // namespace

bool RunStatus::well() const {
  const HookStats& stats = totals.stats;
  return summary.damage.empty() && stats.dropped == 0 && stats.errors == 0 &&
         stats.lost == 0;
}

RunStatus StatusOf(RunSummary summary, std::string run, double now) {
  RunStatus status = {
      .run = std::move(run), .now = now, .totals = TotalsOf(summary)};
  status.summary = std::move(summary);
  return status;
}

RunStatus ReadStatus(const Storage& storage, double now) {
  return StatusOf(SummarizeRun(storage), storage.root(), now);
}

}  // namespace smdebug::query
