#include "src/query/table.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "smdebug/error.h"
#include "src/base/log.h"
#include "src/query/export_query.h"

namespace smdebug::query {
namespace {

// Gives names their places in a list, the first one first.
class Places {
 public:
  explicit Places(std::vector<std::string>* names) : names_(names) {}

  // `name` stays where it is as long as this does.
  uint32_t Of(const std::string& name) {
    const auto [it, is_new] =
        places_.emplace(&name, static_cast<uint32_t>(names_->size()));
    if (is_new) names_->push_back(name);
    return it->second;
  }

 private:
  std::vector<std::string>* const names_;
  std::unordered_map<const std::string*, uint32_t> places_;
};

// Fills one table. One thread at a time.
class TableReader {
 public:
  explicit TableReader(const std::vector<Reduction>& asked) : asked_(asked) {
    for (const Reduction& reduction : asked) ColumnOf(reduction);
    asked_columns_ = table_.reductions.size();
  }

  // Throws FormatError, and has added nothing then.
  void Add(const ExportEntry& entry) {
    std::optional<Value> value;
    if (entry.saved.value) value = entry.ReadValue();
    std::vector<std::pair<Reduction, double>> reductions;
    if (!entry.saved.reductions.empty()) reductions = entry.ReadReductions();
    table_.steps.push_back(entry.id.step);
    table_.modes.push_back(entry.id.mode);
    table_.mode_steps.push_back(entry.id.mode_step);
    table_.workers.push_back(workers_.Of(entry.worker()));
    table_.tensors.push_back(tensors_.Of(entry.tensor()));
    const bool is_number = value && IsNumber(*value);
    table_.values.push_back(is_number ? value->Get(0) : std::nan(""));
    for (const auto& [reduction, saved] : reductions) Put(reduction, saved);
    if (!value || value->dtype() == DType::kString) return;
    for (const Reduction& reduction : asked_) {
      const bool has = std::ranges::find(entry.saved.reductions, reduction) !=
                       entry.saved.reductions.end();
      if (!has) Put(reduction, value->Reduce(reduction));
    }
  }

  Table Finish() {
    for (Table::Column& column : table_.reductions) Fill(column, table_.size());
    std::ranges::sort(
        table_.reductions.begin() + static_cast<int64_t>(asked_columns_),
        table_.reductions.end(), {},
        [](const Table::Column& c) { return ReductionName(c.reduction); });
    return std::move(table_);
  }

 private:
  static void Fill(Table::Column& column, size_t size) {
    column.numbers.resize(size, std::nan(""));
  }

  Table::Column& ColumnOf(Reduction reduction) {
    const auto found = std::ranges::find(table_.reductions, reduction,
                                         &Table::Column::reduction);
    if (found != table_.reductions.end()) return *found;
    table_.reductions.push_back({.reduction = reduction});
    return table_.reductions.back();
  }

  // Into the last row.
  void Put(Reduction reduction, double number) {
    Table::Column& column = ColumnOf(reduction);
    Fill(column, table_.size());
    column.numbers.back() = number;
  }

  const std::vector<Reduction>& asked_;
  size_t asked_columns_ = 0;
  Table table_;
  Places workers_{&table_.worker_names};
  Places tensors_{&table_.tensor_names};
};

Json Numbers(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) list.push_back(JsonNumber(number));
  return list;
}

}  // namespace

Table ReadTable(Trial& trial, const TableQuery& query) {
  const std::vector<std::string> workers = trial.Workers();
  // A run that lost its collections files names none.
  if (query.worker && !workers.empty() &&
      std::ranges::find(workers, *query.worker) == workers.end()) {
    throw InvalidWorker(*query.worker);
  }
  TableReader reader(query.reductions);
  const size_t known_damage = trial.damage().size();
  ForEachWholeEntry(
      trial,
      {.tensors = query.tensors, .mode = query.mode, .worker = query.worker},
      [&](const ExportEntry& entry) {
        reader.Add(entry);
        return true;
      });
  const std::vector<Damage> damage = trial.damage();
  for (size_t i = known_damage; i < damage.size(); ++i) {
    base::LogWarning("left out, since it is damaged: '{}' at step {}: {}: {}",
                     damage[i].tensor, damage[i].step, damage[i].file,
                     damage[i].reason);
  }
  return reader.Finish();
}

Json ToJson(const Table& table) {
  Json modes = Json::array();
  Json workers = Json::array();
  Json tensors = Json::array();
  for (size_t i = 0; i < table.size(); ++i) {
    modes.push_back(ModeName(table.modes[i]));
    workers.push_back(table.worker_names[table.workers[i]]);
    tensors.push_back(table.tensor_names[table.tensors[i]]);
  }
  Json reductions = Json::object();
  for (const Table::Column& column : table.reductions) {
    reductions[ReductionName(column.reduction)] = Numbers(column.numbers);
  }
  return {{"step", table.steps},
          {"mode", std::move(modes)},
          {"mode_step", table.mode_steps},
          {"worker", std::move(workers)},
          {"tensor", std::move(tensors)},
          {"value", Numbers(table.values)},
          {"reductions", std::move(reductions)}};
}

}  // namespace smdebug::query
