#include "src/hook/step_encoder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/record/tensor_event.h"

namespace smdebug::hook {
namespace {

record::TensorEvent EventAt(const Stamp& stamp, double wall_time,
                            std::string_view name) {
  record::TensorEvent event;
  event.wall_time = wall_time;
  event.step = stamp.step;
  event.name = name;
  event.mode = stamp.mode;
  event.mode_step = stamp.mode_step;
  return event;
}

record::TensorEvent Float64At(const Stamp& stamp, double wall_time,
                              std::string_view name,
                              std::span<const int64_t> shape) {
  record::TensorEvent event = EventAt(stamp, wall_time, name);
  event.dtype = DType::kFloat64;
  event.shape = shape;
  event.content_bytes = sizeof(double);
  return event;
}

}  // namespace

void StepEncoder::Append(std::span<const CapturedTensor> tensors,
                         steps::Owner room) {
  builder_.Keep(std::move(room));
  for (const CapturedTensor& tensor : tensors) AddTensor(tensor);
  builder_.Flush();
}

void StepEncoder::AddTensor(const CapturedTensor& tensor) {
  const Form& form = *tensor.form;
  const std::string& name = tensor.plan->name;
  // The shape of a tensor with bytes is in its record. An entry as well would
  // hide the value from smdebug 1.0's reader.
  const bool has_record =
      tensor.has_raw && (!tensor.bytes().empty() || !tensor.strings.empty());
  // Of a tensor without elements there is nothing else, whatever is asked for.
  const bool is_empty = tensor.View().size() == 0;
  if ((form.shape || tensor.has_raw || is_empty) && !has_record) {
    const std::string& original = tensor.original_name;
    builder_.index().AddShape(
        name, original.empty() ? name : original, tensor.shape,
        is_empty ? std::optional(tensor.dtype) : std::nullopt);
    if (is_empty) ++saved_;
  }
  if (tensor.digest) AddDigest(tensor, *tensor.digest);
  if (!has_record) return;
  if (tensor.same_as != nullptr) {
    const std::string& other = tensor.same_as->name;
    builder_.index().AddTensor(name, shareable_.at(tensor.content.get()),
                               other == name ? std::string_view() : other);
    ++saved_;
    return;
  }
  record::TensorEvent event = EventAt(stamp_, tensor.wall_time, name);
  event.dtype = tensor.dtype;
  event.shape = tensor.shape;
  event.content_bytes = tensor.bytes().size();
  event.file_offset = builder_.bytes();
  const std::vector<std::string_view> strings(tensor.strings.begin(),
                                              tensor.strings.end());
  event.strings = strings;
  const index::Location location =
      builder_.AddRecord(event, tensor.bytes(), tensor.content);
  ++saved_;
  if (tensor.is_shared || MayBeShared(tensor)) {
    shareable_.insert_or_assign(tensor.content.get(), location);
  }
  builder_.index().AddTensor(name, location);
}

void StepEncoder::AddDigest(const CapturedTensor& tensor,
                            const Digest& digest) {
  if (!digest.statistics) return;
  const reduce::Statistics& statistics = *digest.statistics;
  const Form& form = *tensor.form;
  for (size_t i = 0; i < form.reductions.size(); ++i) {
    const double value = statistics.Value(form.reductions[i], spread_);
    const std::string& name = form.reduction_names[i];
    const index::Location location =
        AddFloat64(Float64At(stamp_, tensor.wall_time, name, {}), value);
    builder_.index().AddTensor(name, location);
  }
  builder_.index().AddCounts(tensor.plan->name, {.dtype = tensor.dtype,
                                                 .count = statistics.count,
                                                 .nan = statistics.nan,
                                                 .pos_inf = statistics.pos_inf,
                                                 .neg_inf = statistics.neg_inf,
                                                 .zero = statistics.zero});
}

void StepEncoder::Append(std::span<const CapturedScalar> scalars) {
  // The entry of each name that smdebug 1.0 shows at this step: the latest
  // scalar saved here, else the latest of an earlier step.
  std::map<std::string_view, size_t> shown;
  for (size_t i = 0; i < scalars.size(); ++i) {
    const auto [it, fresh] = shown.try_emplace(scalars[i].name, i);
    const bool here = scalars[i].stamp == stamp_;
    if (!fresh && (here || scalars[it->second].stamp != stamp_)) it->second = i;
  }
  constexpr int64_t kShape[] = {1};
  for (size_t i = 0; i < scalars.size(); ++i) {
    const CapturedScalar& scalar = scalars[i];
    const index::Location location = AddFloat64(
        Float64At(scalar.stamp, scalar.wall_time, scalar.name, kShape),
        scalar.value);
    const bool is_shown = shown.at(scalar.name) == i;
    if (is_shown) builder_.index().AddTensor(scalar.name, location);
    if (!is_shown || scalar.stamp != stamp_) {
      builder_.index().AddScalar(scalar.name, scalar.stamp.step,
                                 scalar.stamp.mode, scalar.stamp.mode_step,
                                 location);
    }
  }
  builder_.Flush();
}

index::Location StepEncoder::AddFloat64(const record::TensorEvent& event,
                                        double value) {
  ++saved_;
  return builder_.AddRecord(event, std::as_bytes(std::span(&value, 1)),
                            nullptr);
}

}  // namespace smdebug::hook
