#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/mode.h"
#include "smdebug/tensor.h"

namespace smdebug::index {

// Where a record lies in the event file, and the CRC-32C of its payload.
struct Location {
  uint64_t start = 0;
  uint64_t length = 0;             // Framing included.
  std::optional<uint32_t> crc32c;  // Unmasked; absent in runs of smdebug 1.0.

  friend bool operator==(const Location&, const Location&) = default;
};

struct TensorEntry {
  std::string name;
  Location location;
  // The name in the record, if it is that of another tensor with the same
  // content; empty otherwise. Our own key.
  std::string stored_as = {};

  friend bool operator==(const TensorEntry&, const TensorEntry&) = default;
};

struct ShapeEntry {
  std::string name;
  std::string original_name;
  std::vector<int64_t> shape;
  // The element type of a tensor without elements, which this is all of. Our
  // own key.
  std::optional<DType> dtype = {};

  friend bool operator==(const ShapeEntry&, const ShapeEntry&) = default;
};

// Scalars are saved as tensors of one element under this and their name.
inline constexpr std::string_view kScalarPrefix = "scalar/";

// A scalar with the step it was saved at, which may have no file of its own.
struct ScalarEntry {
  std::string name;
  int64_t step = 0;
  Mode mode = Mode::kGlobal;
  int64_t mode_step = 0;
  Location location;

  friend bool operator==(const ScalarEntry&, const ScalarEntry&) = default;
};

// What the values of a reduced tensor were like.
struct CountsEntry {
  std::string name;
  ValueCounts values;

  friend bool operator==(const CountsEntry&, const CountsEntry&) = default;
};

// One index file: one step of one worker.
struct StepIndex {
  Mode mode = Mode::kGlobal;
  int64_t mode_step = 0;
  std::string event_file;  // Empty if there is none (shapes only).
  std::vector<TensorEntry> tensors;
  std::vector<ShapeEntry> shapes;
  std::vector<ScalarEntry> scalars;  // Our own keys from here on.
  std::vector<CountsEntry> counts;

  friend bool operator==(const StepIndex&, const StepIndex&) = default;
};

// How many tensors and reductions there are, as HookStats::values_saved counts
// them: without scalars.
int64_t CountValues(const StepIndex& index);

// How many scalars there are. One that stands in both lists is one.
int64_t CountScalars(const StepIndex& index);

// What ends the text, before the number: the CRC-32C of all that stands before.
inline constexpr std::string_view kCheckKey = R"(, "index_crc32c": )";

// The file's text. Keys of smdebug 1.0 come first and as it writes them; ours
// ("crc32c" in entries, "scalar_payload", "value_counts", "index_crc32c") are
// ignored by it. The two lists are left out where empty.
std::string ToJson(const StepIndex& index);

// Throws FormatError, naming `file`, for anything that is not an index, and for
// one whose checksum is wrong. Unknown keys are ignored.
StepIndex ParseStepIndex(std::string_view json, std::string_view file);

}  // namespace smdebug::index
