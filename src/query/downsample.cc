#include <algorithm>
#include <cmath>
#include <limits>

#include "src/query/series.h"

namespace smdebug::query {
namespace {

SeriesBucket BucketOf(const Series& series, size_t begin, size_t end) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  SeriesBucket bucket = {.first_step = series.steps[begin],
                         .last_step = series.steps[end - 1],
                         .count = static_cast<int64_t>(end - begin),
                         .first = series.values[begin],
                         .last = series.values[end - 1],
                         .min = kNan,
                         .max = kNan,
                         .min_step = series.steps[begin],
                         .max_step = series.steps[begin]};
  for (size_t i = begin; i < end; ++i) {
    const double value = series.values[i];
    if (std::isnan(value)) {
      ++bucket.nan;
    } else if (std::isinf(value)) {
      ++(value > 0 ? bucket.pos_inf : bucket.neg_inf);
    } else {
      // The first finite one is both.
      if (!(bucket.min <= value)) {
        bucket.min = value;
        bucket.min_step = series.steps[i];
      }
      if (!(bucket.max >= value)) {
        bucket.max = value;
        bucket.max_step = series.steps[i];
      }
    }
  }
  return bucket;
}

}  // namespace

std::vector<SeriesBucket> Downsample(const Series& series, size_t most) {
  const size_t points = series.steps.size();
  const size_t count = std::min(points, std::max<size_t>(most, 1));
  std::vector<SeriesBucket> buckets;
  buckets.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    buckets.push_back(
        BucketOf(series, i * points / count, (i + 1) * points / count));
  }
  return buckets;
}

}  // namespace smdebug::query
