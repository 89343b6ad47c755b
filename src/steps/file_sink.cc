#include "src/steps/file_sink.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/base/bytes.h"
#include "src/base/kill_point.h"
#include "src/run/keys.h"

namespace smdebug::steps {
namespace {

// A write larger than this is cut, so that progress shows on slow disks.
constexpr size_t kWriteBytes = size_t{16} << 20;
constexpr size_t kWriteParts = 512;

class FilePair final : public OpenStep {
 public:
  FilePair(Storage* storage, Durability durability, StepKey key,
           SinkListener* listener)
      : storage_(storage),
        options_{.visibility = Visibility::kOnPublish,
                 .durability = durability},
        key_(std::move(key)),
        listener_(listener) {}

  void Append(std::span<const Bytes> parts, std::span<const Owner>) override {
    if (events_ == nullptr) {
      events_ =
          storage_->Create(run::EventFileKey(key_.step, key_.worker), options_);
    }
    for (Bytes rest : parts) {
      while (!rest.empty()) {
        const Bytes part = rest.first(std::min(rest.size(), kWriteBytes));
        gathered_[count_++] = part;
        gathered_bytes_ += part.size();
        rest = rest.subspan(part.size());
        if (count_ == kWriteParts || gathered_bytes_ >= kWriteBytes) Write();
      }
    }
    Write();
  }

  void Seal(std::string_view index) override {
    StepReport report = {.key = key_, .error = nullptr};
    try {
      Publish(index);
      listener_->OnProgress();
    } catch (...) {
      report.error = std::current_exception();
    }
    listener_->OnReports({&report, 1});
  }

 private:
  void Write() {
    if (count_ == 0) return;
    events_->Append({gathered_.data(), count_});
    count_ = 0;
    gathered_bytes_ = 0;
    listener_->OnProgress();
  }

  void Publish(std::string_view index) {
    if (events_ != nullptr) {
      SMDEBUG_KILL_POINT("before_event_publish");
      events_->Publish();
    }
    SMDEBUG_KILL_POINT("after_event_publish");
    const auto file =
        storage_->Create(run::IndexFileKey(key_.step, key_.worker), options_);
    const Bytes parts[] = {base::AsBytes(index)};
    file->Append(parts);
    SMDEBUG_KILL_POINT("before_index_publish");
    file->Publish();
    SMDEBUG_KILL_POINT("after_index_publish");
  }

  Storage* const storage_;
  const CreateOptions options_;
  const StepKey key_;
  SinkListener* const listener_;
  std::unique_ptr<PendingFile> events_;  // Null without records.
  // What goes into the next write.
  std::array<Bytes, kWriteParts> gathered_;
  size_t count_ = 0;
  size_t gathered_bytes_ = 0;
};

class FileSink final : public StepSink {
 public:
  FileSink(std::shared_ptr<Storage> storage, Durability durability)
      : storage_(std::move(storage)), durability_(durability) {}

  std::unique_ptr<OpenStep> Open(const StepKey& key,
                                 SinkListener* listener) override {
    return std::make_unique<FilePair>(storage_.get(), durability_, key,
                                      listener);
  }

  void Hurry() override {}  // Nothing waits.

 private:
  const std::shared_ptr<Storage> storage_;
  const Durability durability_;
};

}  // namespace

std::shared_ptr<StepSink> MakeFileSink(std::shared_ptr<Storage> storage,
                                       Durability durability) {
  return std::make_shared<FileSink>(std::move(storage), durability);
}

}  // namespace smdebug::steps
