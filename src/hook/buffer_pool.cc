#include "src/hook/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "src/base/fork.h"

namespace smdebug::hook {
namespace {

constexpr size_t kSmallest = 256;
constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;

// Small buffers share slabs of this size, but only in pools large enough not to
// be cut into few pieces by it.
constexpr size_t kSlabBytes = 2 * kHugePage;
constexpr uint64_t kLeastBudgetForSlabs = 64 * kSlabBytes;

// Four capacities per power of two: at most a quarter is wasted, and buffers of
// similar size are shared.
size_t CapacityFor(size_t size) {
  if (size <= kSmallest) return kSmallest;
  const size_t step = std::max(std::bit_floor(size - 1), kSmallest) / 4;
  return (size + step - 1) / step * step;
}

}  // namespace

struct Slab {
  Slab(size_t slab_capacity, size_t buffers)
      : capacity(slab_capacity),
        total(buffers),
        alignment(
            std::align_val_t{bytes() >= kHugePage ? kHugePage : kAlignment}),
        memory(static_cast<std::byte*>(::operator new(bytes(), alignment))) {
    if (alignment == std::align_val_t{kHugePage}) {
      madvise(memory, bytes(), MADV_HUGEPAGE);  // A wish; refused is fine.
    }
  }
  ~Slab() { ::operator delete(memory, alignment); }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  size_t bytes() const noexcept { return capacity * total; }

  const size_t capacity;  // Of each buffer.
  const size_t total;     // Buffers.
  size_t lent = 0;
  const std::align_val_t alignment;
  std::byte* const memory;
};

void Buffer::Release() noexcept {
  if (pool_ != nullptr) pool_->GiveBack(slab_, data_);
  pool_ = nullptr;
}

void Buffer::Swap(Buffer& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(slab_, other.slab_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

Reservation::~Reservation() {
  if (bytes_ != 0) pool_->GiveBack(bytes_);
}

Reservation Reservation::Split(uint64_t bytes) noexcept {
  Reservation part;
  part.pool_ = pool_;
  part.bytes_ = bytes;
  bytes_ -= bytes;
  return part;
}

void Reservation::Merge(Reservation other) noexcept {
  if (other.pool_ != nullptr) pool_ = other.pool_;
  bytes_ += std::exchange(other.bytes_, 0);
}

Room::Room(std::shared_ptr<BufferPool> pool, uint64_t bytes)
    : pool_(std::move(pool)),
      bytes_(bytes),
      fork_generation_(base::ForkGeneration()) {}

Room::~Room() {
  // In a child the locks of the pool are the parent's.
  if (fork_generation_ == base::ForkGeneration()) pool_->GiveBackLent(bytes_);
}

BufferPool::BufferPool(uint64_t budget_bytes) : budget_(budget_bytes) {}

BufferPool::~BufferPool() = default;

std::optional<Buffer> BufferPool::TryTake(size_t size) {
  const base::MutexLock lock(mu_);
  return TakeLocked(size);
}

bool BufferPool::TryReserve(uint64_t bytes, Reservation& reservation) {
  const base::MutexLock lock(mu_);
  reserved_ += bytes;
  if (CountedLocked() != 0 && in_use_ + CountedLocked() > budget_) {
    reserved_ -= bytes;
    return false;
  }
  if (allocated_ + CountedLocked() > budget_) FreeIdleSlabs();
  reservation.pool_ = this;
  reservation.bytes_ += bytes;
  return true;
}

bool BufferPool::TryLend(uint64_t bytes) {
  const base::MutexLock lock(mu_);
  const uint64_t held = in_use_ + CountedLocked();
  if (held != 0 && held + bytes > budget_) return false;
  if (allocated_ + CountedLocked() + bytes > budget_) FreeIdleSlabs();
  in_use_ += bytes;
  allocated_ += bytes;
  return true;
}

void BufferPool::Reserve(uint64_t bytes, Reservation& reservation) {
  const base::MutexLock lock(mu_);
  reserved_ += bytes;
  reservation.pool_ = this;
  reservation.bytes_ += bytes;
}

uint64_t BufferPool::returns() const {
  const base::MutexLock lock(mu_);
  return returns_;
}

bool BufferPool::WaitForReturn(uint64_t seen,
                               std::chrono::milliseconds patience,
                               const std::atomic<uint64_t>& progress) {
  const base::MutexLock lock(mu_);
  ++waiters_;
  bool returned = false;
  bool moved = true;
  while (!returned && moved) {
    const uint64_t seen_progress = progress.load();
    returned = returned_.wait_for(mu_, patience, [&] {
      mu_.AssertHeld();
      return returns_ != seen;
    });
    moved = progress.load() != seen_progress;
  }
  --waiters_;
  return returned;
}

uint64_t BufferPool::in_use() const {
  const base::MutexLock lock(mu_);
  return in_use_;
}

uint64_t BufferPool::reserved() const {
  const base::MutexLock lock(mu_);
  return reserved_;
}

std::optional<Buffer> BufferPool::TakeLocked(size_t size) {
  const size_t capacity = CapacityFor(size);
  const uint64_t held = in_use_ + CountedLocked();
  if (held != 0 && held + capacity > budget_) return std::nullopt;
  std::vector<Idle>& idle = idle_[capacity];
  if (idle.empty() && !AddSlab(capacity)) return std::nullopt;
  const Idle taken = idle.back();  // The warmest.
  idle.pop_back();
  ++taken.slab->lent;
  in_use_ += capacity;
  Buffer buffer;
  buffer.pool_ = this;
  buffer.slab_ = taken.slab;
  buffer.data_ = taken.data;
  buffer.size_ = size;
  return buffer;
}

bool BufferPool::AddSlab(size_t capacity) {
  const uint64_t reserved = CountedLocked();
  size_t total = budget_ < kLeastBudgetForSlabs
                     ? 1
                     : std::max<size_t>(1, kSlabBytes / capacity);
  if (allocated_ + reserved + capacity * total > budget_) FreeIdleSlabs();
  if (allocated_ + reserved + capacity * total > budget_) total = 1;
  // Memory that is neither lent nor free as a whole will be, soon.
  if (in_use_ != 0 && allocated_ + reserved + capacity > budget_) return false;
  slabs_.push_back(std::make_unique<Slab>(capacity, total));
  Slab* const slab = slabs_.back().get();
  allocated_ += slab->bytes();
  std::vector<Idle>& idle = idle_[capacity];
  // Room for all buffers of this capacity, so that GiveBack() cannot fail.
  size_t of_capacity = 0;
  for (const auto& other : slabs_) {
    if (other->capacity == capacity) of_capacity += other->total;
  }
  idle.reserve(of_capacity);
  for (size_t i = total; i-- > 0;) {
    idle.push_back({slab, slab->memory + i * capacity});
  }
  return true;
}

void BufferPool::FreeIdleSlabs() {
  for (auto& [capacity, idle] : idle_) {
    std::erase_if(idle,
                  [](const Idle& buffer) { return buffer.slab->lent == 0; });
  }
  std::erase_if(slabs_, [&](const std::unique_ptr<Slab>& slab) {
    mu_.AssertHeld();
    if (slab->lent != 0) return false;
    allocated_ -= slab->bytes();
    return true;
  });
}

void BufferPool::GiveBack(Slab* slab, std::byte* data) noexcept {
  bool is_awaited = false;
  {
    const base::MutexLock lock(mu_);
    --slab->lent;
    in_use_ -= slab->capacity;
    ++returns_;
    idle_[slab->capacity].push_back({slab, data});
    // What exceeds the budget was lent alone and is not kept.
    if (allocated_ > budget_) FreeIdleSlabs();
    is_awaited = waiters_ != 0;
  }
  if (is_awaited) returned_.notify_all();
}

void BufferPool::GiveBackLent(uint64_t bytes) noexcept {
  bool is_awaited = false;
  {
    const base::MutexLock lock(mu_);
    in_use_ -= bytes;
    allocated_ -= bytes;
    ++returns_;
    is_awaited = waiters_ != 0;
  }
  if (is_awaited) returned_.notify_all();
}

void BufferPool::GiveBack(uint64_t reserved) noexcept {
  bool is_awaited = false;
  {
    const base::MutexLock lock(mu_);
    reserved_ -= reserved;
    ++returns_;
    is_awaited = waiters_ != 0;
  }
  if (is_awaited) returned_.notify_all();
}

}  // namespace smdebug::hook
