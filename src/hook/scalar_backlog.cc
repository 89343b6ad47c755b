#include "src/hook/scalar_backlog.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smdebug::hook {
namespace {

// Scalars that could not be written are kept for the next file up to this many
// times the limit.
constexpr size_t kBacklog = 16;

// The same for their bytes, whatever the limit: a file, or what is kept.
constexpr uint64_t kDueBytes = uint64_t{1} << 20;
constexpr uint64_t kMostBytes = uint64_t{4} << 20;

uint64_t BytesOf(const std::vector<CapturedScalar>& scalars) {
  uint64_t bytes = 0;
  for (const CapturedScalar& scalar : scalars) bytes += HeldBytes(scalar);
  return bytes;
}

}  // namespace

bool ScalarBacklog::IsDue() const {
  return scalars_.size() >= limit_ || bytes_ >= kDueBytes ||
         Clock::now() - oldest_ >= delay_;
}

void ScalarBacklog::Add(std::vector<CapturedScalar>& scalars) {
  if (scalars.empty()) return;
  if (scalars_.empty()) oldest_ = Clock::now();
  bytes_ += BytesOf(scalars);
  std::ranges::move(scalars, std::back_inserter(scalars_));
}

std::vector<CapturedScalar> ScalarBacklog::Take() {
  bytes_ = 0;
  return std::exchange(scalars_, {});
}

std::vector<CapturedScalar> ScalarBacklog::TakeAfter(int64_t step) {
  const auto rest = std::stable_partition(
      scalars_.begin(), scalars_.end(),
      [&](const CapturedScalar& s) { return s.stamp.step <= step; });
  std::vector<CapturedScalar> taken(std::make_move_iterator(rest),
                                    std::make_move_iterator(scalars_.end()));
  scalars_.erase(rest, scalars_.end());
  bytes_ -= BytesOf(taken);
  return taken;
}

void ScalarBacklog::PutBack(std::vector<CapturedScalar> scalars) {
  bytes_ += BytesOf(scalars);
  scalars_.insert(scalars_.begin(), std::make_move_iterator(scalars.begin()),
                  std::make_move_iterator(scalars.end()));
}

int64_t ScalarBacklog::Limit() {
  const size_t most = limit_ * kBacklog;
  size_t excess = 0;
  while (excess < scalars_.size() &&
         (scalars_.size() - excess > most || bytes_ > kMostBytes)) {
    bytes_ -= HeldBytes(scalars_[excess++]);
  }
  scalars_.erase(scalars_.begin(),
                 scalars_.begin() + static_cast<ptrdiff_t>(excess));
  return static_cast<int64_t>(excess);
}

}  // namespace smdebug::hook
