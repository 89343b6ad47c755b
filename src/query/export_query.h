#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/trial.h"
#include "src/query/open_run.h"
#include "src/query/saved_entry.h"

namespace smdebug::query {

// What of a run to export.
struct ExportQuery {
  // These, by name; unset: all.
  std::optional<std::vector<std::string>> tensors = {};
  std::vector<std::string> regexes = {};
  Mode mode = Mode::kGlobal;
  std::optional<int64_t> step = {};  // Of `mode`.
  std::optional<std::string> worker = {};
  std::vector<Reduction> reductions = {};
};

// One tensor at one step of one worker, with what is saved of it.
struct ExportEntry : SavedEntry {
  StepId id;
  Tensor::Saved saved;

  // Whether `reduction` is saved, or can be had from the value.
  bool Gives(Reduction reduction) const;
  // "tensor:reduction", which it is exported as.
  std::string NameOf(Reduction reduction) const;
};

// Whether it is one number, which a table can hold.
bool IsNumber(const Value& value);

// The tensors that `query` leaves, by name.
std::vector<trial::Reader::TensorId> ChooseTensors(Trial& trial,
                                                   const ExportQuery& query);

// Calls `visit` with every entry that `query` leaves, by step, name and worker,
// until it returns false. Complete steps only.
void ForEachEntry(Trial& trial, const ExportQuery& query,
                  const std::function<bool(const ExportEntry&)>& visit);

// The same, but what `visit` cannot read because it is damaged is passed over;
// Trial::damage() lists it.
void ForEachWholeEntry(Trial& trial, const ExportQuery& query,
                       const std::function<bool(const ExportEntry&)>& visit);

// What an export did.
struct ExportResult {
  int64_t entries = 0;  // Arrays, or rows.
  // What was asked for and is not saved at some step: tensors, or
  // ExportEntry::NameOf().
  std::vector<std::string> left_out;
  bool interrupted = false;
};

}  // namespace smdebug::query
