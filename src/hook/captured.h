#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/tensor.h"
#include "src/hook/buffer_pool.h"
#include "src/hook/selector.h"
#include "src/hook/step_counter.h"
#include "src/reduce/histogram.h"
#include "src/reduce/reduce.h"

namespace smdebug::hook {

// What a tensor was reduced to.
struct Digest {
  std::optional<reduce::Statistics> statistics;
  std::optional<reduce::Histogram> histogram;
};

// Everything the writer needs to know of one saved tensor.
//
// A tensor whose bytes are kept is digested by the writer, from the copy; any
// other is digested before Save() returns. So the caller pays one pass.
struct CapturedTensor {
  std::shared_ptr<const TensorPlan> plan;
  std::shared_ptr<const Form> form;
  double wall_time = 0;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  bool has_raw = false;
  Buffer content;                    // If has_raw, but for kString.
  std::vector<std::string> strings;  // If has_raw and kString.
  std::unique_ptr<Digest> digest;    // Null until computed.

  // Whether Digest has something to compute.
  bool NeedsDigest() const noexcept {
    const bool asked =
        !form->reductions.empty() || !form->histogram_tag.empty();
    return asked && reduce::IsReducible(dtype);
  }

  // A dense view over `content`.
  TensorView View() const noexcept {
    return {content.bytes().data(), dtype, shape, {}};
  }
};

struct CapturedScalar {
  std::string name;  // With its "scalar/" prefix.
  double value = 0;
  double wall_time = 0;
  Stamp stamp = {};
};

// Digests `tensor` as `form` asks.
Digest MakeDigest(const TensorView& tensor, const Form& form);

// Why `tensor` cannot be saved at all; empty if it can.
std::string WhyUnsupported(const TensorView& tensor);

}  // namespace smdebug::hook
