#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "src/base/mutex.h"
#include "src/hook/buffer_pool.h"
#include "src/hook/captured.h"
#include "src/hook/selector.h"

namespace smdebug::hook {

// A part of one step, on its way to the writer.
struct Batch {
  Stamp stamp;
  std::vector<CapturedTensor> tensors;
  std::vector<CapturedScalar> scalars;
  std::unique_ptr<const CollectionChanges> collections;  // Null: none.
  uint64_t bytes = 0;  // Of the tensors' content.
  uint64_t held = 0;   // HeldBytes() of the tensors and scalars.
  bool last_of_step = false;
  // Not 0: it holds nothing, and is a request to publish what came before it.
  uint64_t flush = 0;
  Reservation room;  // For all of it but the contents.
};

// Bytes of memory that `batch` takes, but for the contents of its tensors.
// Those of new collections are not counted: there are few.
uint64_t HeldBytes(const Batch& batch) noexcept;

// Batches on their way from the training to the one thread that takes them.
//
// To wake a thread costs the one who wakes it more than to hand over a small
// step. So the taker, when it has nothing left to do, first naps: what is added
// meanwhile waits for the nap's end, unless it is large or much.
//
// Thread-safe.
class BatchQueue {
 public:
  // How long the taker naps, which is how much later a small step may appear.
  static constexpr std::chrono::milliseconds kNap{20};

  // Batches of a step are added together, the last one marked. Returns an empty
  // list for the tensors of the next one, if there is one in memory that was
  // used before.
  std::vector<CapturedTensor> Add(Batch batch) SMDEBUG_EXCLUDES(mu_);

  // Adds a request to publish what was added so far, number `flush`, of steps
  // up to `ended`. It takes the place of one that nothing came after, so that
  // asking again takes no memory.
  void AddFlush(const Stamp& ended, uint64_t flush) SMDEBUG_EXCLUDES(mu_);

  // Ends a nap, or the waiting for a batch: the taker is to look around.
  void Wake() SMDEBUG_EXCLUDES(mu_);

  // No more batches come.
  void End() SMDEBUG_EXCLUDES(mu_);

  // Waits for the next batch. Nothing if none came within `most` or before
  // Wake(), or none will.
  std::optional<Batch> Take(std::chrono::milliseconds most)
      SMDEBUG_EXCLUDES(mu_);

  // Whether End() was called and all was taken.
  bool HasEnded() const SMDEBUG_EXCLUDES(mu_);

  // Keeps the memory of a list for Add() to return.
  void Recycle(std::vector<CapturedTensor> tensors) SMDEBUG_EXCLUDES(mu_);

  // How many tensors and scalars wait.
  int64_t CountWaiting() const SMDEBUG_EXCLUDES(mu_);

  // Forgets what waits.
  void Clear() SMDEBUG_EXCLUDES(mu_);

 private:
  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::deque<Batch> batches_ SMDEBUG_GUARDED_BY(mu_);
  std::vector<CapturedTensor> spare_ SMDEBUG_GUARDED_BY(mu_);
  bool is_napping_ SMDEBUG_GUARDED_BY(mu_) = false;
  bool is_rested_ SMDEBUG_GUARDED_BY(mu_) = true;  // Nothing was taken since.
  bool is_woken_ SMDEBUG_GUARDED_BY(mu_) = false;  // To look around.
  bool ended_ SMDEBUG_GUARDED_BY(mu_) = false;
};

}  // namespace smdebug::hook
