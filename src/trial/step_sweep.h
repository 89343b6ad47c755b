#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/trial/found.h"
#include "src/trial/reader.h"

namespace smdebug::trial {

// Goes through a run step by step, for whoever wants all there is of some
// tensors. Looks for no new steps: it answers from what is known when it is
// made. Records of a step that lie close together are read at once, when the
// first of them is asked for, and kept until the next step. One thread at a
// time.
class StepSweep : private RecordSource {
 public:
  // `reader` is borrowed.
  StepSweep(Reader* reader, std::vector<Catalog::TensorId> tensors);

  StepSweep(const StepSweep&) = delete;
  StepSweep& operator=(const StepSweep&) = delete;

  // The complete steps of `mode`, in order, those without data too.
  std::vector<Reader::Place> Steps(Mode mode) const;

  // What everybody saved at `step` of `mode`, in the order of the tensors and
  // then of the names of workers. Valid until the next call.
  std::span<const Found> MoveTo(int64_t step, Mode mode);

 private:
  // Bytes of one content that are read at once.
  struct Window {
    uint64_t start = 0;
    uint64_t end = 0;
    std::optional<Blob> bytes = {};
  };

  Blob Fetch(const Entry& entry) override;
  void AddItems(Catalog::TensorId id, std::span<const Entry> entries);
  void MakeWindows();

  Reader* const reader_;
  const SnapshotPtr snapshot_;
  const std::vector<Catalog::TensorId> tensors_;
  // By place in tensors_: where to look first (SharedSorted::At).
  std::vector<std::pair<uint32_t, uint32_t>> next_;

  // Of the step.
  int64_t step_ = 0;
  Mode mode_ = Mode::kGlobal;
  std::vector<Entry> entries_;
  std::vector<Found> items_;
  std::vector<Window> windows_;      // None before a record is asked for.
  std::vector<uint32_t> window_of_;  // By place in entries_.
  uint64_t held_ = 0;                // Bytes, in all windows.
};

}  // namespace smdebug::trial
