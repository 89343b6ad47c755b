#include "src/hook/capturer.h"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "src/base/clock.h"
#include "src/record/record.h"
#include "src/tensor/gather.h"

namespace smdebug::hook {
namespace {

// Room in a record for everything but the tensor's bytes.
constexpr uint64_t kRecordOverhead = uint64_t{1} << 20;

// Empty strings are values too, though they have no bytes.
bool HasContent(const TensorView& tensor) {
  return tensor.byte_size() != 0 ||
         (tensor.dtype == DType::kString && tensor.size() != 0);
}

void CopyShape(const TensorView& tensor, CapturedTensor& captured) {
  captured.shape.assign(tensor.shape.begin(), tensor.shape.end());
}

// Whether `tensor`, which is dense, has the bytes that were copied of `twin`.
bool HasSameBytes(const TensorView& tensor, const CapturedTensor& twin) {
  const auto bytes = twin.bytes();
  return bytes.size() == tensor.byte_size() &&
         std::memcmp(tensor.data, bytes.data(), bytes.size()) == 0;
}

}  // namespace

bool Capturer::Describe(std::string_view name, const TensorView& tensor,
                        CapturedTensor& captured) {
  if (const std::string why = WhyUnsupported(tensor); !why.empty()) {
    tally_->AddSkipped("kind", fmt::format("tensor '{}' {}", name, why));
    return false;
  }
  captured.wall_time = base::WallSeconds();
  captured.dtype = tensor.dtype;
  return true;
}

bool Capturer::MayKeepRaw(const CapturedTensor& captured, uint64_t bytes) {
  if (!captured.form->raw) return false;
  if (bytes <= record::kMaxPayloadBytes - kRecordOverhead) return true;
  tally_->AddSkipped(
      "size", fmt::format("tensor '{}' has {} bytes; at most 2 GiB can be "
                          "saved raw (its reductions can)",
                          captured.plan->name, bytes));
  return false;
}

Taken Capturer::Capture(const TensorView& tensor, const CapturedTensor* twin,
                        CapturedTensor& captured) {
  if (!Describe(captured.plan->name, tensor, captured)) return Taken::kNothing;
  captured.has_raw = MayKeepRaw(captured, tensor.byte_size());
  const bool is_empty = tensor.size() == 0;
  if (captured.has_raw || captured.form->shape || is_empty) {
    CopyShape(tensor, captured);
  }
  if (captured.has_raw && HasContent(tensor)) {
    if (twin != nullptr && HasSameBytes(tensor, *twin)) {
      captured.content = twin->content;
      captured.same_as = twin->plan;
      return Taken::kAll;
    }
    return CopyContent(tensor, captured);
  }
  if (captured.NeedsDigest()) {
    captured.digest = MakeDigest(tensor, *captured.form);
  }
  return captured.has_raw || captured.form->shape || captured.digest
             ? Taken::kAll
             : Taken::kNothing;
}

Taken Capturer::CaptureAgain(const TensorView& tensor,
                             const CapturedTensor& first,
                             CapturedTensor& captured) {
  if (!captured.form->raw) return Capture(tensor, nullptr, captured);
  if (!Describe(captured.plan->name, tensor, captured)) return Taken::kNothing;
  captured.has_raw = true;
  CopyShape(tensor, captured);
  captured.content = first.content;
  captured.same_as = first.plan;
  return Taken::kAll;
}

Taken Capturer::Copy(std::string_view name, const TensorView& tensor,
                     CapturedTensor& captured) {
  if (!Describe(name, tensor, captured)) return Taken::kNothing;
  CopyShape(tensor, captured);
  return CopyContent(tensor, captured);
}

Taken Capturer::CopyContent(const TensorView& tensor,
                            CapturedTensor& captured) {
  if (!HasContent(tensor)) return Taken::kAll;
  if (tensor.dtype == DType::kString) {
    const auto* text = static_cast<const std::string_view*>(tensor.data);
    captured.strings.assign(text, text + tensor.size());
    return Taken::kAll;
  }
  std::optional<Buffer> buffer = pool_->TryTake(tensor.byte_size());
  if (!buffer) return Taken::kNoRoom;
  tensor::CopyDense(tensor, buffer->bytes());
  captured.content = std::make_shared<const Content>(*std::move(buffer));
  captured.source = tensor.data;
  return Taken::kAll;
}

}  // namespace smdebug::hook
