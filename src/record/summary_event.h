#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// TensorBoard's own events: real payload CRCs, no metadata.
namespace smdebug::record {

// `name` with every character outside [-/.A-Za-z0-9_] (and letters beyond
// ASCII) replaced by '_', and leading slashes removed.
std::string CleanTag(std::string_view name);

// Appends one whole record to `out`: a scalar, stored as float32. `tag` is
// taken as it is.
void AppendScalarEvent(double wall_time, int64_t step, std::string_view tag,
                       double value, std::string& out);

struct HistogramSummary {
  double min = 0;
  double max = 0;
  double num = 0;
  double sum = 0;
  double sum_squares = 0;
  std::span<const double> limits = {};
  std::span<const double> counts = {};
};

// The same for a histogram.
void AppendHistogramEvent(double wall_time, int64_t step, std::string_view tag,
                          const HistogramSummary& histogram, std::string& out);

}  // namespace smdebug::record
