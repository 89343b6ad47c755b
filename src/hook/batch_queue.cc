#include "src/hook/batch_queue.h"

#include <utility>

namespace smdebug::hook {
namespace {

// What ends a nap: so many batches, or one with so many bytes.
constexpr size_t kMany = 16;
constexpr uint64_t kLarge = uint64_t{64} << 10;

}  // namespace

uint64_t HeldBytes(const Batch& batch) noexcept {
  const auto spare = [](const auto& list) {
    return (list.capacity() - list.size()) * sizeof(list[0]);
  };
  uint64_t bytes =
      sizeof(batch) + batch.held + spare(batch.tensors) + spare(batch.scalars);
  if (batch.collections == nullptr) return bytes;
  for (const auto& member : batch.collections->joined) {
    bytes +=
        sizeof(member) + member.collection.capacity() + member.name.capacity();
  }
  return bytes;
}

std::vector<CapturedTensor> BatchQueue::Add(Batch batch) {
  std::vector<CapturedTensor> spare;
  {
    const base::MutexLock lock(mu_);
    const bool urgent = !batch.last_of_step || batch.bytes >= kLarge ||
                        batches_.size() + 1 >= kMany;
    batches_.push_back(std::move(batch));
    spare.swap(spare_);
    if (is_napping_ && !urgent) return spare;
    is_napping_ = false;
  }
  changed_.notify_all();
  return spare;
}

void BatchQueue::AddFlush(const Stamp& ended, uint64_t flush) {
  {
    const base::MutexLock lock(mu_);
    if (batches_.empty() || batches_.back().flush == 0) batches_.emplace_back();
    batches_.back().stamp = ended;
    batches_.back().flush = flush;
    is_napping_ = false;
  }
  changed_.notify_all();
}

void BatchQueue::Wake() {
  {
    const base::MutexLock lock(mu_);
    is_napping_ = false;
    is_woken_ = true;
  }
  changed_.notify_all();
}

void BatchQueue::End() {
  {
    const base::MutexLock lock(mu_);
    ended_ = true;
    is_napping_ = false;
  }
  changed_.notify_all();
}

std::optional<Batch> BatchQueue::Take(std::chrono::milliseconds most) {
  const base::MutexLock lock(mu_);
  if (batches_.empty() && !ended_ && !is_rested_) {
    is_rested_ = true;
    is_napping_ = true;
    changed_.wait_for(mu_, kNap, [&] {
      mu_.AssertHeld();
      return !is_napping_;
    });
    is_napping_ = false;
  }
  changed_.wait_for(mu_, most, [&] {
    mu_.AssertHeld();
    return !batches_.empty() || ended_ || is_woken_;
  });
  is_woken_ = false;
  if (batches_.empty()) return std::nullopt;
  is_rested_ = false;
  Batch batch = std::move(batches_.front());
  batches_.pop_front();
  return batch;
}

bool BatchQueue::HasEnded() const {
  const base::MutexLock lock(mu_);
  return ended_ && batches_.empty();
}

void BatchQueue::Recycle(std::vector<CapturedTensor> tensors) {
  tensors.clear();
  const base::MutexLock lock(mu_);
  if (spare_.capacity() < tensors.capacity()) spare_.swap(tensors);
}

int64_t BatchQueue::CountWaiting() const {
  const base::MutexLock lock(mu_);
  size_t count = 0;
  for (const Batch& batch : batches_) {
    count += batch.tensors.size() + batch.scalars.size();
  }
  return static_cast<int64_t>(count);
}

void BatchQueue::Clear() {
  const base::MutexLock lock(mu_);
  batches_.clear();
}

}  // namespace smdebug::hook
