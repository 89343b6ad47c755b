#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/mode.h"
#include "src/trial/catalog.h"
#include "src/trial/collections.h"
#include "src/trial/snapshot.h"

// What readers of whole steps ask a Reader for. Plain data: whoever has it owns
// it, and borrows names from the trial.
namespace smdebug::trial {

// What one worker saved of a tensor at a step.
struct SavedTensor {
  Catalog::TensorId id = 0;
  uint32_t worker = 0;  // A number of the catalog.
  uint32_t first = 0;   // In StepTable::entries.
  uint32_t count = 0;
};

// Everything saved at a step: of each tensor what one worker has of it.
struct StepTable {
  SnapshotPtr snapshot = {};  // Which says so, and what the entries are of.
  int64_t step = -1;
  Mode mode = Mode::kGlobal;
  int64_t mode_step = -1;
  bool known = false;                // Whether the run has the step,
  bool is_whole = false;             // and more of it than scalars that ride.
  std::vector<SavedTensor> tensors;  // By name.
  std::vector<Entry> entries;

  std::span<const Entry> EntriesOf(const SavedTensor& tensor) const {
    return std::span(entries).subspan(tensor.first, tensor.count);
  }
};

// Where each tensor was found last, so that going from step to step needs no
// search; and the order of names.
struct StepCursor {
  std::vector<Catalog::TensorId> by_name;
  std::vector<Catalog::TensorId> riders;  // Those of them that ride.
  // By tensor: its first entry after the last table (SharedSorted::At).
  std::vector<std::pair<uint32_t, uint32_t>> next;
};

// Which tensors some collections and regexes take. Empty: all.
struct MemberSet {
  std::vector<std::string> collections = {};
  std::vector<std::string> regexes = {};  // Python dialect.

  std::vector<char> takes = {};  // By tensor.
  // What `takes` was made from.
  std::shared_ptr<const CollectionFiles> made_from = {};

  bool Takes(Catalog::TensorId id) const {
    return id < takes.size() && takes[id] != 0;
  }
};

}  // namespace smdebug::trial
