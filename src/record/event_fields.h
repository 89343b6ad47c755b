#pragma once

#include <cstdint>

#include <protozero/types.hpp>

// Field numbers of the messages in event files (docs/formats/event.md).
namespace smdebug::record {

enum class EventField : protozero::pbf_tag_type {
  kWallTime = 1,
  kStep = 2,
  kSummary = 5,
  kPadding = 15,  // Ours: zeros that no reader looks at.
};

enum class SummaryField : protozero::pbf_tag_type { kValue = 1 };

enum class ValueField : protozero::pbf_tag_type {
  kTag = 1,
  kSimpleValue = 2,
  kHistogram = 5,
  kTensor = 8,
  kMetadata = 9,
};

enum class HistogramField : protozero::pbf_tag_type {
  kMin = 1,
  kMax = 2,
  kNum = 3,
  kSum = 4,
  kSumSquares = 5,
  kBucketLimit = 6,
  kBucket = 7,
};

enum class TensorField : protozero::pbf_tag_type {
  kDType = 1,
  kShape = 2,
  kContent = 4,
  kString = 8,
};

enum class ShapeField : protozero::pbf_tag_type { kDim = 2 };

enum class DimField : protozero::pbf_tag_type { kSize = 1, kName = 2 };

enum class MetadataField : protozero::pbf_tag_type { kPlugin = 1 };

enum class PluginField : protozero::pbf_tag_type { kName = 1, kContent = 2 };

inline constexpr const char* kModeStepPlugin = "mode_step";
inline constexpr const char* kModePlugin = "mode";

}  // namespace smdebug::record
