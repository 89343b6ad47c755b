#include "src/query/status.h"

#include <algorithm>
#include <utility>

namespace smdebug::query {
namespace {

using run::Ledger;

RunTotals TotalsOf(const RunSummary& summary) {
  RunTotals totals;
  for (const WorkerSummary& worker : summary.workers) {
    if (worker.first_step >= 0 &&
        (totals.first_step < 0 || worker.first_step < totals.first_step)) {
      totals.first_step = worker.first_step;
    }
    totals.last_step = std::max(totals.last_step, worker.last_step);
    totals.tensors += worker.tensors;
    totals.bytes += worker.bytes;
    if (!worker.ledger) continue;
    const Ledger& ledger = *worker.ledger;
    ++totals.ledgers;
    totals.scalars += ledger.scalars_saved;
    totals.stalls += ledger.stalls;
    totals.stalled_seconds += ledger.stalled_seconds;
    totals.dropped += ledger.dropped;
    totals.skipped += ledger.skipped;
    totals.errors += ledger.errors;
    totals.lost += ledger.lost;
  }
  return totals;
}

}  // namespace

bool RunStatus::well() const {
  return summary.damage.empty() && totals.dropped == 0 && totals.errors == 0 &&
         totals.lost == 0;
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
