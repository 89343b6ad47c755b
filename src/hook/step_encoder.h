#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

#include "smdebug/config.h"
#include "src/hook/captured.h"
#include "src/hook/step_counter.h"
#include "src/index/step_index.h"
#include "src/steps/step_builder.h"

namespace smdebug::hook {

// What records and index entries become of the tensors and scalars of one step.
//
// One thread at a time.
class StepEncoder {
 public:
  StepEncoder(steps::StepBuilder builder, const Stamp& stamp, Spread spread)
      : builder_(std::move(builder)), stamp_(stamp), spread_(spread) {}

  // Appends the shape, the reductions and the bytes of each tensor, in this
  // order. The sink keeps `room` as long as the records. Throws IoError; the
  // step is then beyond use.
  void Append(std::span<const CapturedTensor> tensors, steps::Owner room);

  // Appends scalars, of this step and of earlier ones that were not sealed.
  // Call last. Throws IoError.
  void Append(std::span<const CapturedScalar> scalars);

  // Whether there is anything to publish.
  bool empty() noexcept { return builder_.index().empty(); }

  // As StepBuilder::Seal().
  void Seal() { builder_.Seal(stamp_.mode, stamp_.mode_step); }

  // Tensors, reductions and scalars in it.
  int64_t saved() const noexcept { return saved_; }

  // Bytes of its records.
  uint64_t bytes() const noexcept { return builder_.bytes(); }

 private:
  void AddTensor(const CapturedTensor& tensor);
  void AddDigest(const CapturedTensor& tensor, const Digest& digest);
  index::Location AddFloat64(const record::TensorEvent& event, double value);

  steps::StepBuilder builder_;
  const Stamp stamp_;
  const Spread spread_;
  int64_t saved_ = 0;
  // Where the contents are that tensors which come later may share.
  std::unordered_map<const Content*, index::Location> shareable_;
};

}  // namespace smdebug::hook
