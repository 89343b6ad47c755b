#include "src/index/step_index.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "src/index/step_index_writer.h"

namespace smdebug::index {
namespace {

// The tensors that are not scalars in the form that smdebug 1.0 reads, and
// whose names begin with `prefix`.
int64_t CountTensors(const StepIndex& index, std::string_view prefix = {}) {
  std::unordered_set<uint64_t> riders;
  for (const ScalarEntry& entry : index.scalars) {
    riders.insert(entry.location.start);
  }
  return std::ranges::count_if(index.tensors, [&](const TensorEntry& entry) {
    return entry.name.starts_with(prefix) &&
           !riders.contains(entry.location.start);
  });
}

}  // namespace

int64_t CountValues(const StepIndex& index) {
  return std::ssize(index.scalars) + CountTensors(index);
}

int64_t CountScalars(const StepIndex& index) {
  return std::ssize(index.scalars) + CountTensors(index, kScalarPrefix);
}

std::string ToJson(const StepIndex& index) {
  StepIndexWriter writer;
  for (const TensorEntry& entry : index.tensors) {
    writer.AddTensor(entry.name, entry.location, entry.stored_as);
  }
  for (const ShapeEntry& entry : index.shapes) {
    writer.AddShape(entry.name, entry.original_name, entry.shape, entry.dtype);
  }
  for (const ScalarEntry& entry : index.scalars) {
    writer.AddScalar(entry.name, entry.step, entry.mode, entry.mode_step,
                     entry.location);
  }
  for (const CountsEntry& entry : index.counts) {
    writer.AddCounts(entry.name, entry.values);
  }
  return std::string(
      writer.Finish(index.mode, index.mode_step, index.event_file));
}

}  // namespace smdebug::index
