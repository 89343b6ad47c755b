#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "smdebug/tensor.h"
#include "src/hook/captured.h"

namespace smdebug::hook {

// The tensors that were copied last, to find those that are saved again under
// another name: what one layer gives is what the next one takes.
//
// One thread at a time.
class RecentTensors {
 public:
  // Holds at most a small part of a buffer of that size.
  explicit RecentTensors(uint64_t buffer_bytes)
      : most_bytes_(buffer_bytes / 8) {}

  // One that was copied from where `tensor` lies, as what it is; its bytes may
  // be others by now. Null if there is none, or `tensor` is not dense.
  std::shared_ptr<const CapturedTensor> Find(const TensorView& tensor) const;

  // Notes a tensor if its record may be shared.
  void Add(const CapturedTensor& tensor);

  void Forget() noexcept;

 private:
  const uint64_t most_bytes_;
  uint64_t bytes_ = 0;
  std::deque<std::shared_ptr<const CapturedTensor>> tensors_;  // Oldest first.
};

}  // namespace smdebug::hook
