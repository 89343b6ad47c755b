#include "src/hook/arrivals.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/reduce/parts.h"

namespace smdebug::hook {
namespace {

using internal::PartStatistics;

template <typename T>
PartStatistics RowAt(const void* rows, int64_t row) {
  constexpr int64_t kColumns = sizeof(PartStatistics) / sizeof(double);
  const T* at = static_cast<const T*>(rows) + row * kColumns;
  return {at[0], at[1], at[2], at[3], at[4],  at[5],
          at[6], at[7], at[8], at[9], at[10], at[11]};
}

Digest DigestOf(const std::vector<internal::Parts>& all) {
  reduce::PartSums sums;
  for (const internal::Parts& parts : all) {
    for (int64_t i = 0; i * parts.width < parts.elements; ++i) {
      sums.Add(parts.has_floats ? RowAt<float>(parts.rows, i)
                                : RowAt<double>(parts.rows, i),
               std::min(parts.width, parts.elements - i * parts.width));
    }
  }
  return {.statistics = sums.Finish(), .histogram = {}};
}

double ValueOf(const internal::ArrivingScalar& scalar) {
  return scalar.is_float ? *static_cast<const float*>(scalar.value)
                         : *static_cast<const double*>(scalar.value);
}

}  // namespace

void Arrivals::Await(Batch& batch) {
  const auto is_lost = [this](CapturedTensor& tensor) {
    if (tensor.arriving == nullptr) return false;
    if (!IsThere(tensor.arriving->arrival, tensor.plan->name)) return true;
    if (!tensor.arriving->parts.empty()) {
      tensor.digest = DigestOf(tensor.arriving->parts);
    }
    tensor.arriving.reset();
    return false;
  };
  const auto scalar_is_lost = [this](CapturedScalar& scalar) {
    if (scalar.arriving == nullptr) return false;
    if (!IsThere(scalar.arriving->arrival, scalar.name)) return true;
    scalar.value = ValueOf(*scalar.arriving);
    scalar.arriving.reset();
    return false;
  };
  const size_t lost = std::erase_if(batch.tensors, is_lost) +
                      std::erase_if(batch.scalars, scalar_is_lost);
  last_.reset();
  if (lost > 0) tally_->AddLost(static_cast<int64_t>(lost));
}

bool Arrivals::IsThere(const std::shared_ptr<internal::Arrival>& arrival,
                       std::string_view name) {
  if (arrival == nullptr) return true;
  if (arrival != last_) {
    last_ = arrival;
    last_is_there_ = Settle(*arrival, name);
  }
  return last_is_there_;
}

bool Arrivals::Settle(internal::Arrival& arrival, std::string_view name) {
  using std::chrono::milliseconds;
  try {
    if (arrival.Await(is_overdue_ ? milliseconds(0) : patience_)) {
      is_overdue_ = false;
      progress_->OnProgress();
      return true;
    }
    is_overdue_ = true;
    throw Error(fmt::format(
        "'{}', and what was to come with it, did not come from its device "
        "within {} s",
        name, std::chrono::duration<double>(patience_).count()));
  } catch (const std::exception&) {
    fail_open_->Keep("arrival");
    return false;
  }
}

}  // namespace smdebug::hook
