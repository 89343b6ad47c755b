#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "smdebug/mode.h"
#include "smdebug/storage.h"
#include "src/hook/captured.h"

namespace smdebug::hook {

// TensorBoard's view of a run: scalars and histograms, one growing file per
// mode. What was added is handed to the file by Flush().
//
// One thread at a time. `storage` is borrowed and outlives the writer.
class TensorboardWriter {
 public:
  explicit TensorboardWriter(Storage* storage) : storage_(storage) {}

  // The histogram of a digested tensor and, if it is a single number of losses,
  // metrics and their like, the scalar.
  void Add(const CapturedTensor& tensor, const Stamp& stamp);
  void Add(const CapturedScalar& scalar);

  // Whether enough was added to flush it.
  bool IsMuch() const noexcept;

  // Throws IoError; what was added since the last Flush() is then gone.
  void Flush();

  // Flushes, and ends the files. Call last. Throws IoError.
  void Publish();

 private:
  struct Log {
    std::unique_ptr<PendingFile> file;
    std::string records;
    int64_t first_step = 0;
  };

  std::string& RecordsAt(const Stamp& stamp);

  Storage* const storage_;
  std::array<Log, 4> logs_;  // By ModeIndex().
};

}  // namespace smdebug::hook
