#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "smdebug/mode.h"
#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/trial/catalog.h"
#include "src/trial/snapshot.h"

namespace smdebug::trial {

// Where the records of some entries come from, if not one by one. One thread at
// a time.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  // The record of `entry`, which is one of those. Throws as Reader::FetchOne().
  virtual Blob Fetch(const Entry& entry) = 0;
};

// Everything that one worker saved of a tensor at a step; there is something.
// Borrows all of it.
struct Found {
  const Snapshot* snapshot = nullptr;
  Catalog::TensorId id = 0;
  int64_t step = 0;  // As asked for.
  Mode mode = Mode::kGlobal;
  std::span<const Entry> entries = {};
  RecordSource* records = nullptr;  // Unset: the store.

  const std::string& name() const {
    return *snapshot->catalog().tensor(id).name;
  }
  const std::string& worker() const {
    return snapshot->catalog().WorkerOf(entries.front());
  }
  // The last one of that kind.
  const Entry* Get(Part part) const;
  bool has_reductions() const;
  Tensor::Saved Saved() const;
};

}  // namespace smdebug::trial
