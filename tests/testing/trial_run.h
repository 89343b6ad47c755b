#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/index/collections_file.h"
#include "src/index/step_index.h"
#include "src/record/record.h"
#include "src/record/tensor_event.h"
#include "src/run/keys.h"
#include "src/run/ledger.h"
#include "tests/testing/files.h"

namespace smdebug::testing {

// Writes a run into a store file by file, as workers of any kind would.
class TestRun {
 public:
  explicit TestRun(Storage* storage) : storage_(storage) {}

  // The collections files of `workers`, which say that there are `count`.
  void Declare(
      const std::vector<std::string>& workers, int64_t count,
      std::map<std::string, Collection, std::less<>> collections = {}) {
    const index::CollectionsFile file = {std::move(collections), count};
    for (const std::string& worker : workers) {
      PutFile(*storage_, run::CollectionsFileKey(run::EncodeWorker(worker)),
              ToJson(file));
    }
  }
  void Declare(const std::vector<std::string>& workers) {
    Declare(workers, static_cast<int64_t>(workers.size()));
  }

  // One step of one worker, file by file. What is added is published by
  // Publish().
  class Step {
   public:
    Step(Storage* storage, int64_t step, std::string worker, Mode mode,
         int64_t mode_step)
        : storage_(storage), step_(step), worker_(std::move(worker)) {
      index.mode = mode;
      index.mode_step = mode_step;
    }

    // The record of a float tensor, and its entry.
    Step& Tensor(std::string_view name, const std::vector<float>& values) {
      const int64_t shape[] = {static_cast<int64_t>(values.size())};
      index.tensors.push_back({std::string(name), Record(name, values, shape)});
      return *this;
    }
    Step& Number(std::string_view name, float value) {
      index.tensors.push_back({std::string(name), Record(name, {value}, {})});
      return *this;
    }
    Step& Rider(std::string_view name, float value, int64_t step, Mode mode,
                int64_t mode_step) {
      index.scalars.push_back({std::string(name), step, mode, mode_step,
                               Record(name, {value}, {})});
      return *this;
    }
    Step& Shape(std::string_view name, std::vector<int64_t> shape,
                std::string_view original) {
      index.shapes.push_back(
          {std::string(name), std::string(original), std::move(shape)});
      return *this;
    }

    void Publish() {
      const std::string worker = run::EncodeWorker(worker_);
      if (!events.empty()) {
        index.event_file = run::EventFileKey(step_, worker);
        PutFile(*storage_, index.event_file, events);
      }
      PutFile(*storage_, run::IndexFileKey(step_, worker), ToJson(index));
    }

    index::StepIndex index;
    std::string events;

   private:
    index::Location Record(std::string_view name,
                           const std::vector<float>& values,
                           std::span<const int64_t> shape) {
      record::TensorEvent event;
      event.step = step_;
      event.name = name;
      event.mode = index.mode;
      event.mode_step = index.mode_step;
      event.shape = shape;
      event.content_bytes = values.size() * sizeof(float);
      std::string head;
      std::string tail;
      record::EncodeTensorEvent(event, head, tail);
      const std::string record =
          head + std::string(base::AsText(std::as_bytes(std::span(values)))) +
          tail;
      const std::string_view payload = std::string_view(record).substr(
          record::kHeaderBytes,
          record.size() - record::kHeaderBytes - record::kFooterBytes);
      const index::Location location = {events.size(), record.size(),
                                        base::Crc32c(base::AsBytes(payload))};
      events += record;
      return location;
    }

    Storage* storage_;
    int64_t step_;
    std::string worker_;
  };

  Step At(int64_t step, std::string worker = "worker_0",
          Mode mode = Mode::kGlobal, int64_t mode_step = -1) {
    return {storage_, step, std::move(worker), mode,
            mode_step < 0 ? step : mode_step};
  }

  // A step with one tensor "x".
  void Save(int64_t step, std::string worker = "worker_0",
            Mode mode = Mode::kGlobal, int64_t mode_step = -1) {
    At(step, std::move(worker), mode, mode_step)
        .Tensor("x", {static_cast<float>(step)})
        .Publish();
  }

  // As a job ends: every worker that has saved steps has closed its ledger.
  void End() {
    for (const FileInfo& file : storage_->List(run::kIndexPrefix)) {
      const auto name = run::ParseStepFileKey(file.key);
      if (!name) continue;
      const std::string key = run::LedgerKey(name->worker);
      if (storage_->Stat(key)) continue;
      PutFile(*storage_, key, ToJson(run::Ledger{.closed = true}));
    }
    Mark();
  }

  // The end marker alone, as somebody else may write it.
  void Mark() { PutFile(*storage_, run::kEndMarkerKey, ""); }

 private:
  Storage* storage_;
};

// A run in memory and, once opened, the trial that reads it.
struct TestTrial {
  std::shared_ptr<Storage> storage = OpenMemoryStorage();
  TestRun run{storage.get()};
  std::unique_ptr<Trial> trial = nullptr;

  static TrialOptions Options() {
    TrialOptions options;
    options.end_delay = std::chrono::milliseconds(0);
    options.poll_interval = std::chrono::milliseconds(1);
    return options;
  }

  Trial& Open(TrialOptions options = Options()) {
    trial = std::make_unique<Trial>(storage, std::move(options));
    return *trial;
  }
};

}  // namespace smdebug::testing
