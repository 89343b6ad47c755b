#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "smdebug/tensor.h"
#include "src/query/byte_sink.h"

namespace smdebug::query {

// The head of a .npy file of version 1.0 for elements of type `descr` ("<f4")
// in C order: magic, version, length and a Python dict, padded to 64 bytes.
// Throws Error for more axes than it can hold, which is more than NumPy has.
std::string NpyHeader(std::string_view descr, std::span<const int64_t> shape);

// A dense tensor as a .npy file. bfloat16 and float8, which NumPy lacks, become
// float32; strings become NumPy's fixed-width Unicode.
//
// Borrows the tensor. Const calls are thread-safe.
class NpyArray {
 public:
  explicit NpyArray(const TensorView& tensor);

  // Bytes of the whole file.
  uint64_t size() const { return header_.size() + content_bytes_; }

  // Hands the whole file to `sink` in pieces.
  void Write(const ByteSink& sink) const;

 private:
  void WriteAsFloats(const ByteSink& sink) const;
  void WriteStrings(const ByteSink& sink) const;

  const TensorView tensor_;
  size_t characters_ = 0;  // Of the longest string.
  std::string header_;
  uint64_t content_bytes_ = 0;
};

}  // namespace smdebug::query
