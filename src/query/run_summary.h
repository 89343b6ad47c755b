#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/run.h"
#include "smdebug/storage.h"
#include "src/run/ledger.h"

namespace smdebug::query {

struct WorkerSummary {
  std::string worker;
  int64_t steps = 0;
  int64_t values = 0;  // As index::CountValues() has them.
  int64_t scalars = 0;
  uint64_t bytes = 0;  // Of content.
  int64_t first_step = -1;
  int64_t last_step = -1;
  std::optional<run::Ledger> ledger;  // Absent in runs of smdebug 1.0.
  bool gone = false;                  // Its process is, without having closed.

  // As the ledger has them, which may be older than the last steps: scalars are
  // at least those that are there.
  HookStats stats() const;
};

// What the files of a run say, by themselves and in its ledgers.
struct RunSummary {
  RunInfo info = {};        // Which run it is, and how it is now.
  bool ended = false;       // Has the end marker.
  int64_t num_workers = 0;  // As declared; 0 if no collections file says.
  int64_t steps = 0;        // Steps that at least one worker saved.
  int64_t tensors = 0;      // Names, as Trial::TensorNames() has them.
  std::vector<WorkerSummary> workers;  // By name.
  std::vector<Damage> damage;
};

// Reads the index of every step of the run and checks each against the size of
// its content, and the number of them against the ledgers; reads no values.
// Where a symbolic link is in the way, it is named once as damage in place of
// what lies behind it. Throws IoError, and FormatError if the folder holds no
// run at all.
RunSummary SummarizeRun(const Storage& storage);

}  // namespace smdebug::query
