#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/internal/arriving.h"
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

// Bytes of a tensor: in a buffer of the hook's, or in memory of others. Const
// calls are thread-safe.
class Content {
 public:
  explicit Content(Buffer buffer) : buffer_(std::move(buffer)) {}
  // `owner` keeps the memory, and the room that it takes.
  Content(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : owner_(std::move(owner)), theirs_(bytes) {}

  std::span<const std::byte> bytes() const noexcept {
    return owner_ == nullptr ? buffer_.bytes() : theirs_;
  }

 private:
  const Buffer buffer_;
  const std::shared_ptr<const void> owner_;
  const std::span<const std::byte> theirs_;
};

// What of a tensor is on its way.
struct Arriving {
  std::shared_ptr<internal::Arrival> arrival;
  std::vector<internal::Parts> parts;  // Empty: the content.
  std::shared_ptr<const void> owner;   // Of the parts.
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
  std::vector<int64_t> shape;  // Only where bytes or shape are saved.
  std::string original_name;   // Beside a shape entry; empty: that of the plan.
  bool has_raw = false;
  // A copy, shared by tensors of a step with the same content; null without
  // bytes, and for kString.
  std::shared_ptr<const Content> content;
  const void* source = nullptr;  // Where it was copied from; may be gone.
  // The tensor of the step whose record has the same content; null: none.
  std::shared_ptr<const TensorPlan> same_as;
  bool is_shared = false;            // Others will be the same, however small.
  std::vector<std::string> strings;  // If has_raw and kString.
  std::optional<Digest> digest;      // Unset until computed.
  std::shared_ptr<const Arriving> arriving;  // Null once all is there.

  // Whether Digest has something to compute.
  bool NeedsDigest() const noexcept {
    const bool asked =
        !form->reductions.empty() || !form->histogram_tag.empty();
    return asked && reduce::IsReducible(dtype);
  }

  std::span<const std::byte> bytes() const noexcept {
    return content == nullptr ? std::span<const std::byte>() : content->bytes();
  }

  // A dense view over `content`.
  TensorView View() const noexcept {
    return {bytes().data(), dtype, shape, {}};
  }
};

struct CapturedScalar {
  std::string name;  // With its "scalar/" prefix.
  double value = 0;
  double wall_time = 0;
  Stamp stamp = {};
  bool is_metric = false;  // Of the job: ScalarOptions::sm_metric.
  // Where the value comes from; null once it is there.
  std::shared_ptr<const internal::ArrivingScalar> arriving = nullptr;
};

// Bytes of memory that each takes, but for the content.
uint64_t HeldBytes(const CapturedTensor& tensor) noexcept;
uint64_t HeldBytes(const CapturedScalar& scalar) noexcept;

// Digests `tensor` as `form` asks.
Digest MakeDigest(const TensorView& tensor, const Form& form);

// Whether the record of a tensor may be shared by others of the step.
bool MayBeShared(const CapturedTensor& tensor);

// Why `tensor` cannot be saved at all; empty if it can.
std::string WhyUnsupported(const TensorView& tensor);

}  // namespace smdebug::hook
