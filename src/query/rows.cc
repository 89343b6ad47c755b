#include "src/query/rows.h"

#include <algorithm>
#include <utility>

#include "smdebug/error.h"
#include "src/query/export_query.h"

namespace smdebug::query {
namespace {

Row RowOf(const ExportEntry& entry, const std::vector<Reduction>& asked) {
  Row row = {
      .id = entry.id, .worker = entry.worker, .tensor = entry.tensor.name()};
  bool is_text = false;
  if (entry.saved.value) {
    const Value value = entry.ReadValue();
    is_text = value.dtype() == DType::kString;
    if (IsNumber(value)) row.value = value.Get(0);
  }
  row.reductions = entry.ReadReductions();
  for (const Reduction& reduction : asked) {
    const bool has = std::ranges::find(entry.saved.reductions, reduction) !=
                     entry.saved.reductions.end();
    if (has || is_text || !entry.Gives(reduction)) continue;
    row.reductions.emplace_back(reduction, entry.ReadReduction(reduction));
  }
  return row;
}

}  // namespace

std::vector<Row> ReadRows(Trial& trial, const RowQuery& query) {
  const std::vector<std::string> workers = trial.Workers();
  // A run that lost its collections files names none.
  if (query.worker && !workers.empty() &&
      std::ranges::find(workers, *query.worker) == workers.end()) {
    throw InvalidWorker(*query.worker);
  }
  std::vector<Row> rows;
  ForEachEntry(
      trial,
      {.tensors = query.tensors, .mode = query.mode, .worker = query.worker},
      [&](const ExportEntry& entry) {
        rows.push_back(RowOf(entry, query.reductions));
        return true;
      });
  return rows;
}

Json ToJson(const Row& row) {
  Json reductions = Json::object();
  for (const auto& [reduction, value] : row.reductions) {
    reductions[ReductionName(reduction)] = JsonNumber(value);
  }
  return {{"step", row.id.step},
          {"mode", ModeName(row.id.mode)},
          {"mode_step", row.id.mode_step},
          {"worker", row.worker},
          {"tensor", row.tensor},
          {"value", row.value ? JsonNumber(*row.value) : Json()},
          {"reductions", std::move(reductions)}};
}

}  // namespace smdebug::query
