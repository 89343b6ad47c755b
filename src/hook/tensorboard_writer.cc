#include "src/hook/tensorboard_writer.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "src/base/bytes.h"
#include "src/base/host.h"
#include "src/record/summary_event.h"
#include "src/run/keys.h"

namespace smdebug::hook {

std::string& TensorboardWriter::RecordsAt(const Stamp& stamp) {
  Log& log = logs_[ModeIndex(stamp.mode)];
  if (log.file == nullptr && log.records.empty()) log.first_step = stamp.step;
  return log.records;
}

void TensorboardWriter::Add(const CapturedTensor& tensor, const Stamp& stamp) {
  if (storage_ == nullptr) return;
  if (tensor.digest && tensor.digest->histogram &&
      !tensor.digest->histogram->limits.empty()) {
    const reduce::Histogram& histogram = *tensor.digest->histogram;
    record::AppendHistogramEvent(tensor.wall_time, stamp.step,
                                 tensor.form->histogram_tag,
                                 {.min = histogram.min,
                                  .max = histogram.max,
                                  .num = static_cast<double>(histogram.num),
                                  .sum = histogram.sum,
                                  .sum_squares = histogram.sum_squares,
                                  .limits = histogram.limits,
                                  .counts = histogram.counts},
                                 RecordsAt(stamp));
  }
  if (tensor.form->scalar_in_tensorboard && tensor.has_raw &&
      reduce::IsReducible(tensor.dtype) && tensor.View().size() == 1) {
    // The sum of one element is that element, whatever its type.
    record::AppendScalarEvent(
        tensor.wall_time, stamp.step, record::CleanTag(tensor.plan->name),
        reduce::Reduce(tensor.View(), {}).sum, RecordsAt(stamp));
  }
}

void TensorboardWriter::Add(const CapturedScalar& scalar) {
  if (storage_ == nullptr) return;
  record::AppendScalarEvent(scalar.wall_time, scalar.stamp.step,
                            record::CleanTag(scalar.name), scalar.value,
                            RecordsAt(scalar.stamp));
}

bool TensorboardWriter::IsMuch() const noexcept {
  constexpr size_t kMuch = size_t{1} << 20;
  return std::ranges::any_of(
      logs_, [](const Log& log) { return log.records.size() >= kMuch; });
}

void TensorboardWriter::Flush() {
  if (storage_ == nullptr) return;
  try {
    for (const Mode mode : kModes) Write(mode, logs_[ModeIndex(mode)]);
  } catch (...) {
    fail_open_->Keep("tensorboard");
    End();
  }
}

void TensorboardWriter::Publish() {
  Flush();
  try {
    for (Log& log : logs_) {
      if (log.file != nullptr) log.file->Publish();
    }
  } catch (...) {
    fail_open_->Keep("tensorboard");
  }
  End();
}

void TensorboardWriter::Write(Mode mode, Log& log) {
  const std::string records = std::exchange(log.records, {});
  if (records.empty()) return;
  if (log.file == nullptr) {
    log.file =
        storage_->Create(run::TensorboardFileKey(ModeName(mode), log.first_step,
                                                 getpid(), base::HostName()),
                         {.visibility = Visibility::kWhileWriting});
  }
  const Bytes parts[] = {base::AsBytes(records)};
  log.file->Append(parts);
  log.file->Flush();
}

void TensorboardWriter::End() {
  storage_ = nullptr;
  logs_ = {};
}

}  // namespace smdebug::hook
