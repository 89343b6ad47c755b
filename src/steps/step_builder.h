#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/mode.h"
#include "smdebug/storage.h"
#include "src/index/step_index_writer.h"
#include "src/record/tensor_event.h"
#include "src/steps/step_sink.h"

namespace smdebug::steps {

// The bytes of one step: encodes its records and gathers its index.
//
// One thread at a time. What is borrowed outlives the object.
class StepBuilder {
 public:
  // Memory that one step after the other uses.
  struct Workspace {
    index::StepIndexWriter index;
    // Encoded bytes in order, and the contents that go between them:
    // contents[i] belongs before encoded[cuts[i]].
    std::shared_ptr<std::string> encoded = std::make_shared<std::string>();
    std::vector<size_t> cuts;
    std::vector<Bytes> contents;
    std::vector<Owner> owners;
    std::string tail;
    std::vector<Bytes> parts;

    void Clear();
  };

  // Nothing is opened in `sink` until there is something to write.
  StepBuilder(StepSink* sink, SinkListener* listener, StepKey key,
              Workspace* workspace);

  int64_t step() const noexcept { return key_.step; }

  // Encodes one record after those before it and says where it will lie.
  // `content` is borrowed until the next Flush(), and then kept by `owner`,
  // which may be null for contents of up to kCopiedBytes.
  index::Location AddRecord(const record::TensorEvent& event, Bytes content,
                            const Owner& owner);
  static constexpr size_t kCopiedBytes = 512;

  // Kept by the sink as long as the records up to the next Flush().
  void Keep(Owner owner) { work_.owners.push_back(std::move(owner)); }

  // Where the next record will start.
  uint64_t bytes() const noexcept { return bytes_; }

  index::StepIndexWriter& index() noexcept { return work_.index; }

  // Hands what was encoded to the sink. Throws IoError; the step is then beyond
  // use.
  void Flush();

  // Flushes, and seals the step. Throws IoError before that; afterwards the
  // sink reports.
  void Seal(Mode mode, int64_t mode_step);

 private:
  OpenStep& Opened();

  StepSink* const sink_;
  SinkListener* const listener_;
  const StepKey key_;
  Workspace& work_;
  std::unique_ptr<OpenStep> open_;
  uint64_t bytes_ = 0;
};

}  // namespace smdebug::steps
