#include "src/index/step_index.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "src/index/step_index_writer.h"

namespace smdebug::index {
namespace {

bool IsScalar(const TensorEntry& entry) {
  return entry.name.starts_with(kScalarPrefix);
}

}  // namespace

int64_t CountValues(const StepIndex& index) {
  const auto is_empty = [](const ShapeEntry& entry) {
    return entry.dtype.has_value();
  };
  return std::ssize(index.tensors) -
         std::ranges::count_if(index.tensors, IsScalar) +
         std::ranges::count_if(index.shapes, is_empty);
}

int64_t CountScalars(const StepIndex& index) {
  // The same scalar may stand in both lists.
  std::unordered_set<uint64_t> counted;
  for (const ScalarEntry& entry : index.scalars) {
    counted.insert(entry.location.start);
  }
  return std::ssize(index.scalars) +
         std::ranges::count_if(index.tensors, [&](const TensorEntry& entry) {
           return IsScalar(entry) && !counted.contains(entry.location.start);
         });
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
