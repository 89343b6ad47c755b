#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "smdebug/storage.h"
#include "src/base/bytes.h"
#include "src/base/mutex.h"
#include "src/steps/step_sink.h"

namespace smdebug::testing {

// A sink that puts ten steps into one object, as stores do for which many small
// files are dear. What is sealed is stored, and reported, by a thread of the
// sink: as soon as there are ten, or when somebody is in a hurry. It keeps the
// memory of what it was given until then.
//
// An object is packed/<first step>_<its worker>.steps. Of each step it has a
// line "<worker> <step> <bytes of index> <bytes of records>", the index and the
// records.
class PackedSink final : public steps::StepSink {
 public:
  static constexpr size_t kStepsPerObject = 10;

  explicit PackedSink(std::shared_ptr<Storage> storage)
      : storage_(std::move(storage)), thread_([this] { Run(); }) {}

  // Stores what is left.
  ~PackedSink() override {
    {
      const base::MutexLock lock(mu_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  PackedSink(const PackedSink&) = delete;
  PackedSink& operator=(const PackedSink&) = delete;

  std::unique_ptr<steps::OpenStep> Open(
      const steps::StepKey& key, steps::SinkListener* listener) override {
    return std::make_unique<Step>(this, key, listener);
  }

  void Hurry() override {
    {
      const base::MutexLock lock(mu_);
      hurried_ = sealed_.size();
    }
    changed_.notify_all();
  }

 private:
  struct Content {
    steps::StepKey key;
    steps::SinkListener* listener = nullptr;
    std::string index;
    std::vector<Bytes> parts;
    std::vector<steps::Owner> owners;
  };

  class Step final : public steps::OpenStep {
   public:
    Step(PackedSink* sink, const steps::StepKey& key,
         steps::SinkListener* listener)
        : sink_(sink) {
      content_.key = key;
      content_.listener = listener;
    }

    void Append(std::span<const Bytes> parts,
                std::span<const steps::Owner> owners) override {
      content_.parts.insert(content_.parts.end(), parts.begin(), parts.end());
      content_.owners.insert(content_.owners.end(), owners.begin(),
                             owners.end());
    }

    void Seal(std::string_view index) override {
      content_.index = index;
      {
        const base::MutexLock lock(sink_->mu_);
        sink_->sealed_.push_back(std::move(content_));
      }
      sink_->changed_.notify_all();
    }

   private:
    PackedSink* const sink_;
    Content content_;
  };

  void Run() {
    while (true) {
      std::vector<Content> contents = Take();
      if (contents.empty()) return;
      std::exception_ptr error;
      try {
        Store(contents);
      } catch (...) {
        error = std::current_exception();
      }
      Report(std::move(contents), error);
    }
  }

  // The steps of the next object; none when there will be none.
  std::vector<Content> Take() {
    const base::MutexLock lock(mu_);
    changed_.wait(mu_, [&] {
      mu_.AssertHeld();
      return sealed_.size() >= kStepsPerObject || hurried_ > 0 || ended_;
    });
    std::vector<Content> contents;
    while (!sealed_.empty() && contents.size() < kStepsPerObject) {
      contents.push_back(std::move(sealed_.front()));
      sealed_.pop_front();
      if (hurried_ > 0) --hurried_;
    }
    return contents;
  }

  void Store(const std::vector<Content>& contents) {
    const steps::StepKey& first = contents.front().key;
    const auto file = storage_->Create(
        fmt::format("packed/{:012}_{}.steps", first.step, first.worker));
    for (const Content& content : contents) {
      size_t bytes = 0;
      for (const Bytes part : content.parts) bytes += part.size();
      const std::string head =
          fmt::format("{} {} {} {}\n", content.key.worker, content.key.step,
                      content.index.size(), bytes);
      std::vector<Bytes> parts = {base::AsBytes(head),
                                  base::AsBytes(content.index)};
      parts.insert(parts.end(), content.parts.begin(), content.parts.end());
      file->Append(parts);
    }
    file->Publish();
  }

  // Lets the memory go, then tells: all of an object at once.
  static void Report(std::vector<Content> contents, std::exception_ptr error) {
    std::vector<std::pair<steps::SinkListener*, std::vector<steps::StepReport>>>
        told;
    for (Content& content : contents) {
      if (told.empty() || told.back().first != content.listener) {
        told.push_back({content.listener, {}});
      }
      told.back().second.push_back({content.key, error});
    }
    contents.clear();
    for (const auto& [listener, reports] : told) listener->OnReports(reports);
  }

  const std::shared_ptr<Storage> storage_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::deque<Content> sealed_ SMDEBUG_GUARDED_BY(mu_);
  size_t hurried_ SMDEBUG_GUARDED_BY(mu_) = 0;  // Of these, not to wait.
  bool ended_ SMDEBUG_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace smdebug::testing
