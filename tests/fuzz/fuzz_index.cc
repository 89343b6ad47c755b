// The input is an index file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "smdebug/error.h"
#include "src/index/step_index.h"
#include "tests/fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using smdebug::index::ParseStepIndex;
  using smdebug::index::StepIndex;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  StepIndex index;
  try {
    index = ParseStepIndex(text, "file");
  } catch (const smdebug::FormatError&) {
    return 0;
  }
  smdebug::fuzz::Require(ParseStepIndex(ToJson(index), "file") == index,
                         "an index that was read and written reads equal");
  return 0;
}
