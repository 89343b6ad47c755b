#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "smdebug/mode.h"
#include "smdebug/storage.h"
#include "src/hook/captured.h"
#include "src/hook/fail_open.h"

namespace smdebug::hook {

// TensorBoard's view of a run: scalars and histograms, one growing file per
// mode. A file that cannot be written ends the export and nothing else.
//
// One thread at a time. What is borrowed outlives the writer.
class TensorboardWriter {
 public:
  // Without `storage` nothing is exported.
  TensorboardWriter(Storage* storage, FailOpen* fail_open)
      : storage_(storage), fail_open_(fail_open) {}

  // The histogram of a digested tensor and, if it is a single number of losses,
  // metrics and their like, the scalar.
  void Add(const CapturedTensor& tensor, const Stamp& stamp);
  void Add(const CapturedScalar& scalar);

  // Whether enough was added to flush it.
  bool IsMuch() const noexcept;

  // Hands what was added to the files.
  void Flush();

  // Flushes, and ends the files. Call last.
  void Publish();

 private:
  struct Log {
    std::unique_ptr<PendingFile> file;
    std::string records;
    int64_t first_step = 0;
  };

  std::string& RecordsAt(const Stamp& stamp);
  void Write(Mode mode, Log& log);
  void End();

  Storage* storage_;  // Null once the export has ended.
  FailOpen* const fail_open_;
  std::array<Log, 4> logs_;  // By ModeIndex().
};

}  // namespace smdebug::hook
