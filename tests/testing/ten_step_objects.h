#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "smdebug/storage.h"
#include "src/base/mutex.h"
#include "src/steps/open_sink.h"
#include "src/steps/step_sink.h"
#include "src/steps/step_source.h"

// A toy: runs whose steps lie ten to an object, to prove that nobody but
// src/steps knows how a run keeps its steps.
//
// An object is `index/<first step, 12 digits>_<worker>.pack`, with the worker's
// name as run::EncodeWorker() gives it. It starts with lines of text:
//
//   <number of steps>
//   <step> <bytes of its index> <bytes of its content>     for each, in order
//
// and goes on, without anything in between, with the index and the content of
// each. Offsets in an index count from the start of the step's content. Objects
// are published whole, and never changed.
namespace smdebug::testing {

inline constexpr size_t kStepsPerObject = 10;

// A step as an object has it. Borrows.
struct PackedStep {
  int64_t step = 0;
  std::string_view index;
  std::span<const Bytes> content;
};

// Publishes the object of `steps`, which are of `worker` and in order. Throws
// IoError.
void PutObject(Storage& storage, std::string_view worker,
               std::span<const PackedStep> steps);

// Puts ten steps into one object, as stores do for which many small files are
// dear. What is sealed is stored, and reported, by a thread of the sink: as
// soon as there are ten of a worker, or when somebody is in a hurry. It keeps
// the memory of what it was given until then.
class TenStepSink final : public steps::StepSink {
 public:
  explicit TenStepSink(std::shared_ptr<Storage> storage)
      : storage_(std::move(storage)), thread_([this] { Run(); }) {}

  // Stores what is left.
  ~TenStepSink() override;
  TenStepSink(const TenStepSink&) = delete;
  TenStepSink& operator=(const TenStepSink&) = delete;

  std::unique_ptr<steps::OpenStep> Open(const steps::StepKey& key,
                                        steps::SinkListener* listener) override;
  void Hurry() override;

 private:
  class Step;

  struct Sealed {
    steps::StepKey key;
    steps::SinkListener* listener = nullptr;
    std::string index;
    std::vector<Bytes> parts;
    std::vector<steps::Owner> owners;
    bool hurried = false;
  };

  void Run();
  // Whose steps are to be stored now, without waiting for more.
  std::optional<std::string> DueWorker() const SMDEBUG_REQUIRES(mu_);
  // The steps of the next object; none when there will be none.
  std::vector<Sealed> Take();
  void Store(std::span<const Sealed> taken);

  const std::shared_ptr<Storage> storage_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::deque<Sealed> sealed_ SMDEBUG_GUARDED_BY(mu_);
  bool ended_ SMDEBUG_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

// Reads them. Thread-safe.
class TenStepSource final : public steps::StepSource {
 public:
  // `storage` is borrowed.
  explicit TenStepSource(const Storage* storage) : storage_(storage) {}

  std::vector<std::string_view> folders() const override { return {"index"}; }
  std::vector<steps::StepItem> List(std::string_view cursor) const override;
  std::string CursorAfter(
      int64_t step, std::optional<std::string_view> worker) const override;
  std::optional<steps::StepItem> Look(std::string_view name) const override;
  std::optional<steps::StepRecord> ReadIndex(
      const steps::StepItem& item) const override;
  std::string NameOf(const steps::StepContent& content) const override;
  std::optional<Blob> Read(const steps::StepContent& content, uint64_t offset,
                           uint64_t length) const override;
  std::vector<steps::ContentItem> ListContents() const override;

 private:
  // Where a step lies.
  struct Place {
    std::string object;
    uint64_t index_start = 0;
    uint64_t index_bytes = 0;
    uint64_t content_bytes = 0;
    double modified = 0;
  };
  using Places = std::map<std::pair<int64_t, std::string>, Place>;

  static Places PlacesIn(const FileInfo& file, std::string_view object);
  Places LookAtObjects() const;
  std::optional<Place> Find(int64_t step, std::string_view worker) const;

  const Storage* const storage_;
  mutable base::Mutex mu_;
  mutable std::map<std::string, Places> objects_ SMDEBUG_GUARDED_BY(mu_);
};

// Puts the steps of a run of file pairs into objects, and everything else that
// `from` holds as it is, into `to`.
void PackRun(const Storage& from, Storage& to);

// As long as it lives, hooks write such objects and trials read them.
struct TenStepLayout {
  const steps::SinkMakerForTesting sink{
      [](std::shared_ptr<Storage> storage, Durability) {
        return std::make_shared<TenStepSink>(std::move(storage));
      }};
  const steps::ScopedStepSource source{[](const Storage* storage) {
    return std::make_unique<TenStepSource>(storage);
  }};
};

}  // namespace smdebug::testing
