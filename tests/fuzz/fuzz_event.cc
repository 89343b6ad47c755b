// The input is the payload of one record. The frame around it is right, so that
// every input gets past the checksums.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/bytes.h"
#include "src/record/record.h"
#include "tests/fuzz/tensor_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace base = smdebug::base;
  namespace record = smdebug::record;
  std::string framed(base::AsText(record::MakeHeader(size)));
  framed.append(reinterpret_cast<const char*>(data), size);
  framed += base::AsText(record::MakeFooter(record::kTensorFooter));
  smdebug::fuzz::CheckTensorRecord(base::AsBytes(framed));
  return 0;
}
