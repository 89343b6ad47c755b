#include "src/query/status.h"

#include <algorithm>
#include <utility>

namespace smdebug::query {
namespace {

using run::Ledger;

// The open worker that wrote its ledger last; null if there is none.
const Ledger* LatestOpenLedger(const RunSummary& summary) {
  const Ledger* latest = nullptr;
  for (const WorkerSummary& worker : summary.workers) {
    if (!worker.ledger || worker.ledger->closed) continue;
    if (latest == nullptr || worker.ledger->updated > latest->updated) {
      latest = &*worker.ledger;
    }
  }
  return latest;
}

// Workers the job has, as its ledgers and collections declare.
int64_t DeclaredWorkers(const RunSummary& summary) {
  int64_t declared = summary.num_workers;
  for (const WorkerSummary& worker : summary.workers) {
    if (worker.ledger) {
      declared = std::max(declared, worker.ledger->num_workers);
    }
  }
  return declared;
}

RunState StateOf(const RunSummary& summary, double now) {
  if (summary.ended) return RunState::kFinished;
  if (const Ledger* latest = LatestOpenLedger(summary)) {
    return now - latest->updated <= kRunningSeconds ? RunState::kRunning
                                                    : RunState::kNotClosed;
  }
  const auto closed = std::ranges::count_if(
      summary.workers,
      [](const auto& worker) { return worker.ledger.has_value(); });
  // Under SageMaker a run that is over has no end marker of ours.
  if (closed > 0 && closed >= DeclaredWorkers(summary)) {
    return RunState::kFinished;
  }
  return RunState::kUnknown;
}

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

std::string_view StateName(RunState state) {
  switch (state) {
    case RunState::kFinished:
      return "finished";
    case RunState::kRunning:
      return "running";
    case RunState::kNotClosed:
      return "not_closed";
    case RunState::kUnknown:
      return "unknown";
  }
  return "unknown";
}

bool RunStatus::well() const {
  return summary.damage.empty() && totals.dropped == 0 && totals.errors == 0 &&
         totals.lost == 0;
}

RunStatus StatusOf(RunSummary summary, std::string run, double now) {
  RunStatus status = {.run = std::move(run),
                      .now = now,
                      .state = StateOf(summary, now),
                      .totals = TotalsOf(summary)};
  status.summary = std::move(summary);
  return status;
}

RunStatus ReadStatus(const Storage& storage, double now) {
  return StatusOf(SummarizeRun(storage), storage.root(), now);
}

}  // namespace smdebug::query
