#include <nlohmann/json.hpp>

#include "src/cli/status_report.h"

namespace smdebug::cli {
namespace {

using Json = nlohmann::ordered_json;

Json StepOrNull(int64_t step) { return step < 0 ? Json() : Json(step); }

Json WorkerJson(const index::WorkerSummary& worker) {
  Json json = {{"worker", worker.worker},
               {"steps", worker.steps},
               {"first_step", StepOrNull(worker.first_step)},
               {"last_step", StepOrNull(worker.last_step)},
               {"tensors", worker.tensors},
               {"bytes", worker.bytes}};
  if (!worker.ledger) {
    json["ledger"] = nullptr;
    return json;
  }
  const index::Ledger& ledger = *worker.ledger;
  json["ledger"] = {{"job", ledger.job},
                    {"host", ledger.host},
                    {"pid", ledger.pid},
                    {"started", ledger.started},
                    {"updated", ledger.updated},
                    {"closed", ledger.closed},
                    {"last_step", StepOrNull(ledger.last_step)},
                    {"scalars", ledger.scalars_saved},
                    {"stalls", ledger.stalls},
                    {"stalled_seconds", ledger.stalled_seconds},
                    {"dropped", ledger.dropped},
                    {"skipped", ledger.skipped},
                    {"errors", ledger.errors},
                    {"lost", ledger.lost},
                    {"messages", ledger.messages}};
  return json;
}

}  // namespace

std::string StatusJson(const index::RunSummary& summary, std::string_view run,
                       double now) {
  const RunTotals totals = TotalsOf(summary);
  Json json = {{"run", run},
               {"state", StateName(StateOf(summary, now))},
               {"well", IsWell(summary)},
               {"ended", summary.ended},
               {"num_workers", summary.num_workers},
               {"steps", summary.steps},
               {"first_step", StepOrNull(totals.first_step)},
               {"last_step", StepOrNull(totals.last_step)},
               {"tensors", totals.tensors},
               {"bytes", totals.bytes},
               {"ledgers", totals.ledgers},
               {"scalars", totals.scalars},
               {"stalls", totals.stalls},
               {"stalled_seconds", totals.stalled_seconds},
               {"dropped", totals.dropped},
               {"skipped", totals.skipped},
               {"errors", totals.errors},
               {"lost", totals.lost}};
  json["workers"] = Json::array();
  for (const index::WorkerSummary& worker : summary.workers) {
    json["workers"].push_back(WorkerJson(worker));
  }
  json["damage"] = Json::array();
  for (const Damage& damage : summary.damage) {
    json["damage"].push_back(
        {{"file", damage.file}, {"reason", damage.reason}});
  }
  // File names may hold any bytes; a bad one must not cost the whole report.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace smdebug::cli
