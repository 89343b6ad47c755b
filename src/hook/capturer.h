#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "smdebug/hook.h"
#include "smdebug/tensor.h"
#include "src/hook/buffer_pool.h"
#include "src/hook/captured.h"
#include "src/hook/tally.h"

namespace smdebug::hook {

// Takes what is saved of a tensor from the framework's memory: reduces it, or
// copies it into a buffer under the budget. What cannot be taken is counted.
// Thread-safe.
class Capturer {
 public:
  // `hand_over` gives the writer what it does not have yet; it is called when
  // the buffer is full. The tally outlives the capturer.
  Capturer(const RuntimeOptions& runtime, Tally* tally,
           std::function<void()> hand_over);

  // The count of what the writer has done, before anything is captured. It
  // outlives the capturer.
  void WatchProgress(const std::atomic<uint64_t>* progress) {
    progress_ = progress;
  }

  // Reduces or copies `tensor` as captured.form asks. `twin`, which may be
  // null, is shared instead if it has the same bytes. False if nothing of it
  // can be saved.
  bool Capture(const TensorView& tensor, const CapturedTensor* twin,
               CapturedTensor& captured);

  // The same for a tensor of which `first` already has the bytes.
  bool CaptureAgain(const TensorView& tensor, const CapturedTensor& first,
                    CapturedTensor& captured);

  // Copies `tensor`, for which there is no form yet. False if it cannot.
  bool Copy(std::string_view name, const TensorView& tensor,
            CapturedTensor& captured);

  // Whether the bytes of a tensor may be kept, as captured.form asks.
  bool MayKeepRaw(const CapturedTensor& captured, uint64_t bytes);

 private:
  // Notes what `tensor` is. False if it cannot be saved.
  bool Describe(std::string_view name, const TensorView& tensor,
                CapturedTensor& captured);
  bool CopyContent(std::string_view name, const TensorView& tensor,
                   CapturedTensor& captured);
  std::optional<Buffer> TakeBuffer(uint64_t bytes);

  const RuntimeOptions& runtime_;
  Tally* const tally_;
  const std::function<void()> hand_over_;
  const std::atomic<uint64_t>* progress_ = nullptr;
  BufferPool pool_;
  std::atomic<uint64_t> stuck_at_{UINT64_MAX};  // The writer's progress then.
};

}  // namespace smdebug::hook
