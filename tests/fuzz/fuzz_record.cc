// The input is an event file: records one after the other, and perhaps a torn
// or damaged one at the end.
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/bytes.h"
#include "src/record/record.h"
#include "tests/fuzz/tensor_record.h"

namespace {

using smdebug::record::kFooterBytes;
using smdebug::record::kHeaderBytes;

// The size of the record that starts `file`, as its length claims; all of
// `file` if there is not that much.
size_t ClaimedBytes(std::span<const std::byte> file) {
  constexpr size_t kFrameBytes = kHeaderBytes + kFooterBytes;
  if (file.size() < kFrameBytes) return file.size();
  const auto payload = smdebug::base::LoadLittleEndian<uint64_t>(file.data());
  if (payload > file.size() - kFrameBytes) return file.size();
  return kFrameBytes + payload;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data),
                                  size);
  do {
    const size_t claimed = ClaimedBytes(file);
    smdebug::fuzz::CheckTensorRecord(file.first(claimed));
    file = file.subspan(claimed);
  } while (!file.empty());
  return 0;
}
