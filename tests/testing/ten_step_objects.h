#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/storage.h"
#include "src/base/mutex.h"
#include "src/index/step_index.h"
#include "src/steps/step_source.h"

// A toy: runs whose steps lie ten to an object, to prove that nobody but
// src/steps knows how a run keeps its steps.
//
// An object is `packs/<first step, 12 digits>_<worker>.pack`, with the worker's
// name as run::EncodeWorker() gives it. It starts with lines of text:
//
//   <number of steps>
//   <step> <bytes of its index> <bytes of its content>     for each, in order
//
// and goes on, without anything in between, with the index (index::ToJson) and
// the content of each. Offsets in an index count from the start of the step's
// content. Objects are published whole, and never changed.
namespace smdebug::testing {

// Writes the steps of one worker. One thread at a time.
class TenStepWriter {
 public:
  static constexpr size_t kSteps = 10;

  // `storage` is borrowed.
  TenStepWriter(Storage* storage, std::string worker)
      : storage_(storage), worker_(std::move(worker)) {}

  // Takes a step, later than those before; the tenth is published with the
  // others.
  void Add(int64_t step, index::StepIndex index, std::string content);
  // Publishes what waits.
  void Flush();

 private:
  struct Step {
    int64_t step = 0;
    std::string index;
    std::string content;
  };

  Storage* const storage_;
  const std::string worker_;
  std::vector<Step> waiting_;
};

// Reads them. Thread-safe.
class TenStepSource final : public steps::StepSource {
 public:
  // `storage` is borrowed.
  explicit TenStepSource(const Storage* storage) : storage_(storage) {}

  std::vector<std::string_view> folders() const override { return {"packs"}; }
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

  Places LookAtObjects() const;
  std::optional<Place> Find(int64_t step, std::string_view worker) const;

  const Storage* const storage_;
  mutable base::Mutex mu_;
  mutable std::map<std::string, Places> objects_ SMDEBUG_GUARDED_BY(mu_);
};

// Puts the steps of a run of file pairs into objects, and everything else that
// `from` holds as it is, into `to`.
void PackRun(const Storage& from, Storage& to);

// What ScopedStepSource takes.
steps::MakeStepSource TenStepSources();

}  // namespace smdebug::testing
