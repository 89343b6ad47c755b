#pragma once

#include <cstdint>
#include <string_view>

#include "smdebug/tensor.h"
#include "src/hook/buffer_pool.h"
#include "src/hook/captured.h"
#include "src/hook/tally.h"

namespace smdebug::hook {

// What was taken of a tensor.
enum class Taken : uint8_t {
  kAll,      // What its form asks for.
  kNothing,  // It cannot be saved, which is counted, or there is nothing.
  kNoRoom,   // The buffer is full: to be tried again, or dropped.
};

// Takes what is saved of a tensor from the framework's memory: reduces it, or
// copies it into a buffer. Never waits. Thread-safe.
class Capturer {
 public:
  // Both outlive the capturer.
  Capturer(BufferPool* pool, Tally* tally) : pool_(pool), tally_(tally) {}

  // Reduces or copies `tensor` as captured.form asks. `twin`, which may be
  // null, is shared instead if it has the same bytes.
  Taken Capture(const TensorView& tensor, const CapturedTensor* twin,
                CapturedTensor& captured);

  // The same for a tensor of which `first` already has the bytes.
  Taken CaptureAgain(const TensorView& tensor, const CapturedTensor& first,
                     CapturedTensor& captured);

  // Copies `tensor`, for which there is no form yet.
  Taken Copy(std::string_view name, const TensorView& tensor,
             CapturedTensor& captured);

  // Notes what `tensor` is. False if it cannot be saved.
  bool Describe(std::string_view name, const TensorView& tensor,
                CapturedTensor& captured);

  // Whether the bytes of a tensor may be kept, as captured.form asks.
  bool MayKeepRaw(const CapturedTensor& captured, uint64_t bytes);

 private:
  Taken CopyContent(const TensorView& tensor, CapturedTensor& captured);

  BufferPool* const pool_;
  Tally* const tally_;
};

}  // namespace smdebug::hook
