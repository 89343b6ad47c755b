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

// Buffers for captured bytes, all of them under one budget. Memory is kept for
// reuse and comes in huge pages where the system has them, since touching fresh
// pages costs more than the copy into them.
//
// A buffer larger than the whole budget is given out only while no other is in
// use. Thread-safe.
class BufferPool {
 public:
  explicit BufferPool(uint64_t budget_bytes);
  // All buffers have come back.
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // A buffer of `size` bytes if there is room for it now.
  std::optional<Buffer> TryTake(size_t size) SMDEBUG_EXCLUDES(mu_);

  // Waits for room. nullopt if no buffer comes back and `progress` does not
  // grow for `patience`.
  std::optional<Buffer> Take(size_t size, std::chrono::milliseconds patience,
                             const std::atomic<uint64_t>& progress)
      SMDEBUG_EXCLUDES(mu_);

  // Bytes now lent out, with what rounding up adds.
  uint64_t in_use() const SMDEBUG_EXCLUDES(mu_);

 private:
  friend class Buffer;

  struct Idle {
    Slab* slab;
    std::byte* data;
  };

  std::optional<Buffer> TakeLocked(size_t size) SMDEBUG_REQUIRES(mu_);
  // Whether there is a new slab for buffers of `capacity`.
  bool AddSlab(size_t capacity) SMDEBUG_REQUIRES(mu_);
  void FreeIdleSlabs() SMDEBUG_REQUIRES(mu_);
  void GiveBack(Slab* slab, std::byte* data) noexcept SMDEBUG_EXCLUDES(mu_);

  const uint64_t budget_;
  mutable base::Mutex mu_;
  base::CondVar returned_;
  uint64_t in_use_ SMDEBUG_GUARDED_BY(mu_) = 0;
  uint64_t allocated_ SMDEBUG_GUARDED_BY(mu_) = 0;
  uint64_t returns_ SMDEBUG_GUARDED_BY(mu_) = 0;
  std::vector<std::unique_ptr<Slab>> slabs_ SMDEBUG_GUARDED_BY(mu_);
  std::map<size_t, std::vector<Idle>> idle_ SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace smdebug::hook
