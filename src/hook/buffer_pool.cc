#include "src/hook/buffer_pool.h"

#include <bit>
#include <new>
#include <utility>

namespace smdebug::hook {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr size_t kSmallest = 256;

// Four capacities per power of two: at most a quarter is wasted, and buffers of
// similar size are shared.
size_t CapacityFor(size_t size) {
  if (size <= kSmallest) return kSmallest;
  const size_t step = std::bit_floor(size - 1) / 4;
  return (size + step - 1) / step * step;
}

}  // namespace

void Buffer::Release() noexcept {
  if (pool_ != nullptr) pool_->GiveBack(data_, capacity_);
  pool_ = nullptr;
}

void Buffer::Swap(Buffer& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
}

BufferPool::~BufferPool() {
  const base::MutexLock lock(mu_);
  FreeIdle(UINT64_MAX);
}

std::optional<Buffer> BufferPool::TryTake(size_t size) {
  const base::MutexLock lock(mu_);
  return TakeLocked(size);
}

std::optional<Buffer> BufferPool::Take(size_t size,
                                       std::chrono::milliseconds patience,
                                       const std::atomic<uint64_t>& progress) {
  const base::MutexLock lock(mu_);
  while (true) {
    if (std::optional<Buffer> buffer = TakeLocked(size)) return buffer;
    const uint64_t seen = returns_;
    const uint64_t seen_progress = progress.load();
    const bool moved = returned_.wait_for(mu_, patience, [&] {
      mu_.AssertHeld();
      return returns_ != seen;
    });
    if (!moved && progress.load() == seen_progress) return std::nullopt;
  }
}

uint64_t BufferPool::in_use() const {
  const base::MutexLock lock(mu_);
  return in_use_;
}

std::optional<Buffer> BufferPool::TakeLocked(size_t size) {
  const size_t capacity = CapacityFor(size);
  if (in_use_ != 0 && in_use_ + capacity > budget_) return std::nullopt;
  Buffer buffer;
  std::vector<std::byte*>& idle = free_[capacity];
  if (!idle.empty()) {
    buffer.data_ = idle.back();
    idle.pop_back();
    idle_ -= capacity;
  } else {
    if (in_use_ + idle_ + capacity > budget_) {
      FreeIdle(in_use_ + idle_ + capacity - budget_);
    }
    buffer.data_ =
        static_cast<std::byte*>(::operator new(capacity, kAlignment));
  }
  in_use_ += capacity;
  buffer.pool_ = this;
  buffer.size_ = size;
  buffer.capacity_ = capacity;
  return buffer;
}

void BufferPool::FreeIdle(uint64_t wanted) {
  uint64_t freed = 0;
  for (auto it = free_.rbegin(); it != free_.rend() && freed < wanted; ++it) {
    while (!it->second.empty() && freed < wanted) {
      ::operator delete(it->second.back(), kAlignment);
      it->second.pop_back();
      idle_ -= it->first;
      freed += it->first;
    }
  }
}

void BufferPool::GiveBack(std::byte* data, size_t capacity) noexcept {
  {
    const base::MutexLock lock(mu_);
    in_use_ -= capacity;
    ++returns_;
    if (capacity <= budget_) {
      // TakeLocked() made the list, so this push at worst reallocates it.
      free_[capacity].push_back(data);
      idle_ += capacity;
      data = nullptr;
    }
  }
  returned_.notify_all();
  if (data != nullptr) ::operator delete(data, kAlignment);
}

}  // namespace smdebug::hook
