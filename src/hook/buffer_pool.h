#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/base/mutex.h"

namespace smdebug::hook {

class BufferPool;

// Memory that buffers of one capacity are cut from.
struct Slab;

// Memory borrowed from a BufferPool, given back on destruction. The pool
// outlives it. One thread at a time.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { Release(); }
  Buffer(Buffer&& other) noexcept { Swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    Swap(taken);
    return *this;
  }

  std::span<std::byte> bytes() noexcept { return {data_, size_}; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  friend class BufferPool;

  void Release() noexcept;
  void Swap(Buffer& other) noexcept;

  BufferPool* pool_ = nullptr;
  Slab* slab_ = nullptr;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// A part of the budget of a BufferPool, for what is held in other memory. Given
// back on destruction. The pool outlives it. One thread at a time.
class Reservation {
 public:
  Reservation() = default;
  ~Reservation();
  Reservation(Reservation&& other) noexcept { Swap(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    Reservation taken(std::move(other));
    Swap(taken);
    return *this;
  }

  uint64_t bytes() const noexcept { return bytes_; }

  // Parts with `bytes` of it, which it has.
  Reservation Split(uint64_t bytes) noexcept;

  // Adds one of the same pool, or an empty one.
  void Merge(Reservation other) noexcept;

 private:
  friend class BufferPool;

  void Swap(Reservation& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(bytes_, other.bytes_);
  }

  BufferPool* pool_ = nullptr;
  uint64_t bytes_ = 0;
};

// Room in the budget for bytes of tensors in memory of others. It may be given
// back by anybody, at any time, in a forked child too. Thread-safe.
class Room {
 public:
  Room(std::shared_ptr<BufferPool> pool, uint64_t bytes);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

 private:
  const std::shared_ptr<BufferPool> pool_;
  const uint64_t bytes_;
  const uint64_t fork_generation_;
};

// Memory under one budget: buffers for captured bytes, and what others reserve
// for what they hold. Memory of buffers is kept for reuse and comes in huge
// pages where the system has them, since touching fresh pages costs more than
// the copy into them.
//
// A buffer larger than the whole budget is given out only while no other is in
// use. The first kFreeBytes of reservations are outside of the budget: what
// says that bytes are to be written always finds room beside those bytes.
//
// Thread-safe.
class BufferPool {
 public:
  static constexpr uint64_t kFreeBytes = uint64_t{1} << 20;

  explicit BufferPool(uint64_t budget_bytes);
  // All buffers have come back.
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // A buffer of `size` bytes if there is room for it now.
  std::optional<Buffer> TryTake(size_t size) SMDEBUG_EXCLUDES(mu_);

  // Whether there is room for `bytes` in memory of others, which is taken then,
  // as by a buffer, for a Room to give back.
  bool TryLend(uint64_t bytes) SMDEBUG_EXCLUDES(mu_);

  // Adds `bytes` to `reservation` if there is room for them now.
  bool TryReserve(uint64_t bytes, Reservation& reservation)
      SMDEBUG_EXCLUDES(mu_);

  // The same for what is held already, room or not.
  void Reserve(uint64_t bytes, Reservation& reservation) SMDEBUG_EXCLUDES(mu_);

  // How often something came back.
  uint64_t returns() const SMDEBUG_EXCLUDES(mu_);

  // Waits until returns() is not `seen`. False if it stays so and `progress`
  // does not grow for `patience`.
  bool WaitForReturn(uint64_t seen, std::chrono::milliseconds patience,
                     const std::atomic<uint64_t>& progress)
      SMDEBUG_EXCLUDES(mu_);

  // Bytes now lent out, with what rounding up adds.
  uint64_t in_use() const SMDEBUG_EXCLUDES(mu_);
  // Bytes now reserved.
  uint64_t reserved() const SMDEBUG_EXCLUDES(mu_);

 private:
  friend class Buffer;
  friend class Reservation;
  friend class Room;

  struct Idle {
    Slab* slab;
    std::byte* data;
  };

  std::optional<Buffer> TakeLocked(size_t size) SMDEBUG_REQUIRES(mu_);
  // Whether there is a new slab for buffers of `capacity`.
  bool AddSlab(size_t capacity) SMDEBUG_REQUIRES(mu_);
  void FreeIdleSlabs() SMDEBUG_REQUIRES(mu_);
  void GiveBack(Slab* slab, std::byte* data) noexcept SMDEBUG_EXCLUDES(mu_);
  void GiveBackLent(uint64_t bytes) noexcept SMDEBUG_EXCLUDES(mu_);
  void GiveBack(uint64_t reserved) noexcept SMDEBUG_EXCLUDES(mu_);
  // Reserved bytes that count.
  uint64_t CountedLocked() const SMDEBUG_REQUIRES(mu_) {
    return reserved_ > kFreeBytes ? reserved_ - kFreeBytes : 0;
  }

  const uint64_t budget_;
  mutable base::Mutex mu_;
  base::CondVar returned_;
  uint64_t in_use_ SMDEBUG_GUARDED_BY(mu_) = 0;
  uint64_t reserved_ SMDEBUG_GUARDED_BY(mu_) = 0;
  uint64_t allocated_ SMDEBUG_GUARDED_BY(mu_) = 0;
  uint64_t returns_ SMDEBUG_GUARDED_BY(mu_) = 0;
  int waiters_ SMDEBUG_GUARDED_BY(mu_) = 0;
  std::vector<std::unique_ptr<Slab>> slabs_ SMDEBUG_GUARDED_BY(mu_);
  std::map<size_t, std::vector<Idle>> idle_ SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace smdebug::hook
