#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/storage.h"
#include "src/hook/captured.h"
#include "src/hook/step_counter.h"
#include "src/index/step_index_writer.h"
#include "src/record/tensor_event.h"

namespace smdebug::hook {

// The event and index file of one step of one worker, while they are written.
//
// Records go to the event file as they come. Publish() makes the event file
// visible first and the index second, so that an index always finds its
// records. Destroyed before that, the step leaves nothing behind.
//
// One thread at a time. `storage` is borrowed and outlives the object.
class StepFile {
 public:
  struct Options {
    std::string worker = {};
    Durability durability = Durability::kProcessCrash;
    Spread spread = Spread::kPopulation;
    std::atomic<uint64_t>* progress = nullptr;  // Grows with what is written.
  };

  // Memory that one step after the other uses.
  struct Workspace {
    index::StepIndexWriter index;
    // Encoded bytes in file order, and the borrowed contents that go between
    // them: contents[i] belongs before encoded[cuts[i]].
    std::string encoded;
    std::vector<size_t> cuts;
    std::vector<Bytes> contents;
    std::string tail;
    std::vector<Bytes> parts;

    void Clear() noexcept;
  };

  // Nothing is created until there is something to write. `workspace` is
  // borrowed as `storage` is, for this step alone.
  StepFile(Storage* storage, const Options& options, const Stamp& stamp,
           Workspace* workspace);

  const Stamp& stamp() const noexcept { return stamp_; }

  // Appends the shape, the reductions and the bytes of each tensor, in this
  // order. Throws IoError; the file is then beyond use.
  void Append(std::span<const CapturedTensor> tensors);

  // Appends scalars, of this step and of earlier ones without files. Call last.
  // Throws IoError.
  void Append(std::span<const CapturedScalar> scalars);

  // Whether there is anything to publish.
  bool empty() const noexcept { return work_.index.empty(); }

  // Makes the step visible. Throws IoError; then the step is not visible.
  void Publish();

  // Tensors, reductions and scalars in it.
  int64_t saved() const noexcept { return saved_; }

  // Bytes of the event file.
  uint64_t bytes() const noexcept { return offset_; }

 private:
  void AddTensor(const CapturedTensor& tensor);
  void AddDigest(const CapturedTensor& tensor, const Digest& digest);

  // Encodes one record after those before it and says where it will lie.
  // `content` is borrowed until the next Flush().
  index::Location AddRecord(const record::TensorEvent& event, Bytes content);

  // Hands the encoded records to the event file.
  void Flush();
  void Write(Bytes bytes);
  void WriteParts();

  Storage* const storage_;
  const Options options_;
  const Stamp stamp_;
  Workspace& work_;
  std::unique_ptr<PendingFile> events_;
  uint64_t offset_ = 0;
  int64_t saved_ = 0;
  // Where the contents are that tensors which come later may share.
  std::unordered_map<const Buffer*, index::Location> shareable_;
  uint64_t part_bytes_ = 0;
};

}  // namespace smdebug::hook
