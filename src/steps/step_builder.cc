#include "src/steps/step_builder.h"

#include <utility>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/record/record.h"
#include "src/run/keys.h"

namespace smdebug::steps {
namespace {

// Memory for encoded bytes beyond this is not kept for the next step.
constexpr size_t kMostKept = size_t{16} << 20;

}  // namespace

void StepBuilder::Workspace::Clear() {
  index.Clear();
  // A sink may have kept the bytes.
  if (encoded.use_count() > 1 || encoded->capacity() > kMostKept) {
    encoded = std::make_shared<std::string>();
  }
  encoded->clear();
  cuts.clear();
  contents.clear();
  owners.clear();
  parts.clear();
}

StepBuilder::StepBuilder(StepSink* sink, SinkListener* listener, StepKey key,
                         Workspace* workspace)
    : sink_(sink),
      listener_(listener),
      key_(std::move(key)),
      work_(*workspace) {
  work_.Clear();
}

index::Location StepBuilder::AddRecord(const record::TensorEvent& event,
                                       Bytes content, const Owner& owner) {
  std::string& encoded = *work_.encoded;
  const size_t begin = encoded.size();
  work_.tail.clear();
  const uint64_t payload_bytes =
      record::EncodeTensorEvent(event, encoded, work_.tail);
  uint32_t crc = 0;
  // Copied beside their heads, small contents are cheaper than as parts of
  // their own in the gathered write.
  if (content.size() <= kCopiedBytes) {
    encoded += base::AsText(content);
    encoded += work_.tail;
    crc = base::Crc32c(base::AsBytes(encoded).subspan(
        begin + record::kHeaderBytes, payload_bytes));
  } else {
    const Bytes head = base::AsBytes(encoded).subspan(begin);
    const Bytes tail = base::AsBytes(work_.tail);
    crc = base::Crc32c(head.subspan(record::kHeaderBytes));
    crc = base::Crc32c(content, crc);
    crc = base::Crc32c(tail.first(tail.size() - record::kFooterBytes), crc);
    work_.cuts.push_back(encoded.size());
    work_.contents.push_back(content);
    work_.owners.push_back(owner);
    encoded += work_.tail;
  }
  const index::Location location = {
      bytes_, payload_bytes + record::kHeaderBytes + record::kFooterBytes, crc};
  bytes_ += location.length;
  return location;
}

OpenStep& StepBuilder::Opened() {
  if (open_ == nullptr) open_ = sink_->Open(key_, listener_);
  return *open_;
}

void StepBuilder::Flush() {
  if (work_.encoded->empty()) return;
  const Bytes encoded = base::AsBytes(*work_.encoded);
  size_t begin = 0;
  for (size_t i = 0; i < work_.cuts.size(); ++i) {
    work_.parts.push_back(encoded.subspan(begin, work_.cuts[i] - begin));
    work_.parts.push_back(work_.contents[i]);
    begin = work_.cuts[i];
  }
  work_.parts.push_back(encoded.subspan(begin));
  work_.owners.push_back(work_.encoded);
  Opened().Append(work_.parts, work_.owners);
  // The index goes on; the rest begins anew.
  work_.owners.clear();
  if (work_.encoded.use_count() > 1) {
    work_.encoded = std::make_shared<std::string>();
  }
  work_.encoded->clear();
  work_.cuts.clear();
  work_.contents.clear();
  work_.parts.clear();
}

void StepBuilder::Seal(Mode mode, int64_t mode_step) {
  Flush();
  const std::string event_file =
      bytes_ == 0 ? "" : run::EventFileKey(key_.step, key_.worker);
  OpenStep& opened = Opened();
  opened.Seal(work_.index.Finish(mode, mode_step, event_file));
}

}  // namespace smdebug::steps
