#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "smdebug/mode.h"
#include "smdebug/tensor.h"
#include "src/index/step_index.h"

namespace smdebug::index {

// Writes the text of one index file after the other, entry by entry. A step can
// have a thousand entries, hundreds of times a second, so they become text at
// once, in memory that is used again.
//
// One thread at a time.
class StepIndexWriter {
 public:
  void AddTensor(std::string_view name, const Location& location,
                 std::string_view stored_as = {});
  void AddShape(std::string_view name, std::string_view original_name,
                std::span<const int64_t> shape,
                std::optional<DType> dtype = {});
  void AddScalar(std::string_view name, int64_t step, Mode mode,
                 int64_t mode_step, const Location& location);
  void AddCounts(std::string_view name, const ValueCounts& counts);

  // Whether there is neither a tensor nor a shape.
  bool empty() const noexcept { return tensors_.empty() && shapes_.empty(); }

  // The whole text; see ToJson(). Valid until the writer changes.
  std::string_view Finish(Mode mode, int64_t mode_step,
                          std::string_view event_file);

  // Begins the next file.
  void Clear() noexcept;

 private:
  // The items of each list, with ", " between them.
  std::string tensors_;
  std::string shapes_;
  std::string scalars_;
  std::string counts_;
  std::string text_;
};

}  // namespace smdebug::index
