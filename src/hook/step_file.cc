#include "src/hook/step_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/base/kill_point.h"
#include "src/index/run_files.h"
#include "src/record/record.h"

namespace smdebug::hook {
namespace {

// Contents up to this size are copied beside their heads, which is cheaper than
// a part of their own in the gathered write.
constexpr size_t kInlineBytes = 512;

// A write larger than this is cut, so that progress shows on slow disks.
constexpr size_t kWriteBytes = size_t{16} << 20;

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

void StepFile::Workspace::Clear() noexcept {
  index.Clear();
  encoded.clear();
  if (encoded.capacity() > kWriteBytes) encoded.shrink_to_fit();
  cuts.clear();
  contents.clear();
  parts.clear();
}

StepFile::StepFile(Storage* storage, const Options& options, const Stamp& stamp,
                   Workspace* workspace)
    : storage_(storage), options_(options), stamp_(stamp), work_(*workspace) {
  work_.Clear();
}

void StepFile::Append(std::span<const CapturedTensor> tensors) {
  for (const CapturedTensor& tensor : tensors) AddTensor(tensor);
  Flush();
}

void StepFile::AddTensor(const CapturedTensor& tensor) {
  const Form& form = *tensor.form;
  const std::string& name = tensor.plan->name;
  // The shape of a tensor with bytes is in its record. An entry as well would
  // hide the value from smdebug 1.0's reader.
  const bool has_record =
      tensor.has_raw && (!tensor.bytes().empty() || !tensor.strings.empty());
  if ((form.shape || tensor.has_raw) && !has_record) {
    work_.index.AddShape(name, name, tensor.shape);
  }
  if (tensor.digest) AddDigest(tensor, *tensor.digest);
  if (!has_record) return;
  if (tensor.same_as != nullptr) {
    const std::string& other = tensor.same_as->name;
    work_.index.AddTensor(name, shareable_.at(tensor.content.get()),
                          other == name ? std::string_view() : other);
    ++saved_;
    return;
  }
  record::TensorEvent event = EventAt(stamp_, tensor.wall_time, name);
  event.dtype = tensor.dtype;
  event.shape = tensor.shape;
  event.content_bytes = tensor.bytes().size();
  event.file_offset = offset_;
  const std::vector<std::string_view> strings(tensor.strings.begin(),
                                              tensor.strings.end());
  event.strings = strings;
  const index::Location location = AddRecord(event, tensor.bytes());
  if (tensor.is_shared || MayBeShared(tensor)) {
    shareable_.insert_or_assign(tensor.content.get(), location);
  }
  work_.index.AddTensor(name, location);
}

void StepFile::AddDigest(const CapturedTensor& tensor, const Digest& digest) {
  if (!digest.statistics) return;
  const reduce::Statistics& statistics = *digest.statistics;
  const Form& form = *tensor.form;
  for (size_t i = 0; i < form.reductions.size(); ++i) {
    const double value = statistics.Value(form.reductions[i], options_.spread);
    const std::string& name = form.reduction_names[i];
    const index::Location location =
        AddRecord(Float64At(stamp_, tensor.wall_time, name, {}),
                  std::as_bytes(std::span(&value, 1)));
    work_.index.AddTensor(name, location);
  }
  work_.index.AddCounts({.name = tensor.plan->name,
                         .dtype = tensor.dtype,
                         .count = statistics.count,
                         .nan = statistics.nan,
                         .pos_inf = statistics.pos_inf,
                         .neg_inf = statistics.neg_inf,
                         .zero = statistics.zero});
}

void StepFile::Append(std::span<const CapturedScalar> scalars) {
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
    const index::Location location = AddRecord(
        Float64At(scalar.stamp, scalar.wall_time, scalar.name, kShape),
        std::as_bytes(std::span(&scalar.value, 1)));
    const bool is_shown = shown.at(scalar.name) == i;
    if (is_shown) work_.index.AddTensor(scalar.name, location);
    if (!is_shown || scalar.stamp != stamp_) {
      work_.index.AddScalar(scalar.name, scalar.stamp.step, scalar.stamp.mode,
                            scalar.stamp.mode_step, location);
    }
  }
  Flush();
}

index::Location StepFile::AddRecord(const record::TensorEvent& event,
                                    Bytes content) {
  const size_t begin = work_.encoded.size();
  work_.tail.clear();
  const uint64_t payload_bytes =
      record::EncodeTensorEvent(event, work_.encoded, work_.tail);
  uint32_t crc = 0;
  if (content.size() <= kInlineBytes) {
    work_.encoded += base::AsText(content);
    work_.encoded += work_.tail;
    crc =
        base::Crc32c(base::AsBytes(work_.encoded)
                         .subspan(begin + record::kHeaderBytes, payload_bytes));
  } else {
    const Bytes head = base::AsBytes(work_.encoded).subspan(begin);
    const Bytes tail = base::AsBytes(work_.tail);
    crc = base::Crc32c(head.subspan(record::kHeaderBytes));
    crc = base::Crc32c(content, crc);
    crc = base::Crc32c(tail.first(tail.size() - record::kFooterBytes), crc);
    work_.cuts.push_back(work_.encoded.size());
    work_.contents.push_back(content);
    work_.encoded += work_.tail;
  }
  const index::Location location = {
      offset_, payload_bytes + record::kHeaderBytes + record::kFooterBytes,
      crc};
  offset_ += location.length;
  ++saved_;
  return location;
}

void StepFile::Flush() {
  if (work_.encoded.empty()) return;
  if (events_ == nullptr) {
    events_ =
        storage_->Create(index::EventFileKey(stamp_.step, options_.worker),
                         {.visibility = Visibility::kOnPublish,
                          .durability = options_.durability});
  }
  const Bytes encoded = base::AsBytes(work_.encoded);
  size_t begin = 0;
  for (size_t i = 0; i < work_.cuts.size(); ++i) {
    Write(encoded.subspan(begin, work_.cuts[i] - begin));
    Write(work_.contents[i]);
    begin = work_.cuts[i];
  }
  Write(encoded.subspan(begin));
  WriteParts();
  work_.encoded.clear();
  work_.cuts.clear();
  work_.contents.clear();
}

void StepFile::Write(Bytes bytes) {
  while (!bytes.empty()) {
    const Bytes part = bytes.first(std::min(bytes.size(), kWriteBytes));
    work_.parts.push_back(part);
    part_bytes_ += part.size();
    bytes = bytes.subspan(part.size());
    if (part_bytes_ >= kWriteBytes) WriteParts();
  }
}

void StepFile::WriteParts() {
  if (work_.parts.empty()) return;
  events_->Append(work_.parts);
  work_.parts.clear();
  part_bytes_ = 0;
  if (options_.progress != nullptr) ++*options_.progress;
}

void StepFile::Publish() {
  std::string event_file;
  if (events_ != nullptr) {
    SMDEBUG_KILL_POINT("before_event_publish");
    events_->Publish();
    event_file = index::EventFileKey(stamp_.step, options_.worker);
  }
  SMDEBUG_KILL_POINT("after_event_publish");
  const std::string_view json =
      work_.index.Finish(stamp_.mode, stamp_.mode_step, event_file);
  const auto file =
      storage_->Create(index::IndexFileKey(stamp_.step, options_.worker),
                       {.visibility = Visibility::kOnPublish,
                        .durability = options_.durability});
  const Bytes parts[] = {base::AsBytes(json)};
  file->Append(parts);
  SMDEBUG_KILL_POINT("before_index_publish");
  file->Publish();
  SMDEBUG_KILL_POINT("after_index_publish");
}

}  // namespace smdebug::hook
