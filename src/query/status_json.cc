#include "src/query/status.h"

namespace smdebug::query {
namespace {

Json StepOrNull(int64_t step) { return step < 0 ? Json() : Json(step); }

// But for what is counted in the files themselves.
void AddStats(const HookStats& stats, Json& json) {
  json["scalars"] = stats.scalars_saved;
  HookStats::ForEach([&](std::string_view name, auto count) {
    if (!name.ends_with("_saved")) json[name] = stats.*count;
  });
}

Json WorkerJson(const WorkerSummary& worker) {
  Json json = {{"worker", worker.worker},
               {"steps", worker.steps},
               {"first_step", StepOrNull(worker.first_step)},
               {"last_step", StepOrNull(worker.last_step)},
               {"values", worker.values},
               {"bytes", worker.bytes}};
  if (!worker.ledger) {
    json["ledger"] = nullptr;
    return json;
  }
  const run::Ledger& ledger = *worker.ledger;
  json["ledger"] = {{"run", ledger.run},
                    {"job", ledger.job},
                    {"host", ledger.host},
                    {"pid", ledger.pid},
                    {"started", ledger.started},
                    {"updated", ledger.updated},
                    {"closed", ledger.closed},
                    {"gone", worker.gone},
                    {"ending", ledger.ending},
                    {"reason", ledger.reason},
                    {"last_step", StepOrNull(ledger.last_step)}};
  AddStats(worker.stats(), json["ledger"]);
  json["ledger"]["messages"] = ledger.messages;
  return json;
}

}  // namespace

Json ToJson(const RunStatus& status) {
  const RunSummary& summary = status.summary;
  const RunTotals& totals = status.totals;
  Json json = {{"run", status.run},
               {"id", summary.info.id},
               {"state", RunStateName(summary.info.state)},
               {"reason", summary.info.reason},
               {"well", status.well()},
               {"ended", summary.ended},
               {"num_workers", summary.num_workers},
               {"steps", summary.steps},
               {"first_step", StepOrNull(totals.first_step)},
               {"last_step", StepOrNull(totals.last_step)},
               {"tensors", summary.tensors},
               {"values", totals.values},
               {"bytes", totals.bytes},
               {"ledgers", totals.ledgers}};
  AddStats(totals.stats, json);
  json["workers"] = Json::array();
  for (const WorkerSummary& worker : summary.workers) {
    json["workers"].push_back(WorkerJson(worker));
  }
  json["damage"] = Json::array();
  for (const Damage& damage : summary.damage) {
    json["damage"].push_back(
        {{"file", damage.file}, {"reason", damage.reason}});
  }
  return json;
}

}  // namespace smdebug::query
