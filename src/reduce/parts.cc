#include "src/reduce/parts.h"

namespace smdebug::reduce {

void PartSums::Add(const internal::PartStatistics& part,
                   int64_t count) noexcept {
  const Specials specials = {.nan = static_cast<int64_t>(part.nan),
                             .pos_inf = static_cast<int64_t>(part.pos_inf),
                             .neg_inf = static_cast<int64_t>(part.neg_inf),
                             .zero = static_cast<int64_t>(part.zero)};
  totals_.Add(specials);
  if (specials.nan == 0) {
    totals_.AddExtremes(part.min, part.max, part.abs_min);
    if (specials.pos_inf + specials.neg_inf == 0) {
      const auto n = static_cast<long double>(count);
      totals_.AddSums(part.sum, part.abs_sum, part.sum_squares,
                      {count, part.sum / n, part.deviations},
                      {count, part.abs_sum / n, part.abs_deviations});
    }
  }
  totals_.AddCount(count);
}

}  // namespace smdebug::reduce
