#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "smdebug/trial.h"
#include "src/trial/catalog.h"
#include "src/trial/collections.h"
#include "src/trial/scanner.h"

namespace smdebug::trial {

// What a trial knew about its run at some moment. It is gathered by one thread;
// once it is known to others, nobody changes it, and whoever holds it can go on
// with what it says.
struct Snapshot {
  Scanner scanner;
  std::shared_ptr<const CollectionFiles> collections;
  // Which change of the store was seen; 0: look again in any case.
  uint64_t change = 0;
  std::chrono::steady_clock::time_point looked = {};
  bool loaded_all = false;  // The job has ended and nothing else will come.
  std::vector<Damage> missing = {};  // Files that are not there, at the end.

  // A copy to gather into.
  Snapshot Draft() const {
    Snapshot draft = *this;
    draft.scanner = scanner.Draft();
    return draft;
  }

  const Catalog& catalog() const noexcept { return scanner.catalog(); }

  bool IsComplete(const StepRow& row) const {
    return loaded_all || scanner.IsComplete(row);
  }
  StepState StateOf(int64_t step, Mode mode) const;

  // Everybody's entries of a tensor at a step of `mode`.
  std::span<const Entry> EntriesAt(Catalog::TensorId id, int64_t step,
                                   Mode mode) const;
  // What `worker`, or the first by name, has among `entries`; empty if that
  // worker has nothing.
  std::vector<Entry> Select(std::span<const Entry> entries,
                            WorkerName worker) const;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace smdebug::trial
