#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/mode.h"
#include "smdebug/tensor.h"

namespace smdebug::record {

// Contents of this size and more start at a multiple of kContentAlignment in
// their file, so that a reader that maps it can hand them out as they lie.
inline constexpr uint64_t kAlignedContentBytes = 4096;
inline constexpr uint64_t kContentAlignment = 64;

// One tensor value of one step. Borrows its name, shape and strings.
struct TensorEvent {
  double wall_time = 0;
  int64_t step = 0;
  std::string_view name = {};
  Mode mode = Mode::kGlobal;
  int64_t mode_step = 0;
  DType dtype = DType::kFloat32;
  std::span<const int64_t> shape = {};
  uint64_t content_bytes = 0;                      // Not for kString.
  std::span<const std::string_view> strings = {};  // kString only.
  uint64_t file_offset = 0;  // Where the record will start.
};

// Appends the record of `event` up to its tensor content to `head` (framing
// header included) and what follows the content to `tail` (framing footer
// included): head + content + tail is the whole record. The content of kString
// is in `head`. Returns the number of payload bytes. Throws UnsupportedTensor
// if the payload would exceed kMaxPayloadBytes or strings are not of rank 1.
uint64_t EncodeTensorEvent(const TensorEvent& event, std::string& head,
                           std::string& tail);

// A decoded tensor record. Borrows from the record.
struct DecodedTensor {
  double wall_time = 0;
  int64_t step = 0;
  std::string_view name;
  Mode mode = Mode::kGlobal;
  int64_t mode_step = 0;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  std::span<const std::byte> content;
  std::vector<std::string_view> strings;
};

// Decodes one whole record, framing included. Throws FormatError, naming
// `file`, for anything that is not exactly one well-formed tensor record:
// header CRC, footer (the constant or the true CRC), message, content length.
DecodedTensor DecodeTensorRecord(std::span<const std::byte> record,
                                 std::string_view file);

}  // namespace smdebug::record
