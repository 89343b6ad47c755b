// The input is a claim. Whatever it is, nothing is thrown.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/run/claim.h"
#include "tests/fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using smdebug::run::ParseClaim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto claim = ParseClaim(text);
  if (!claim) return 0;
  smdebug::fuzz::Require(ParseClaim(ToJson(*claim)) == claim,
                         "a claim that was read and written reads equal");
  return 0;
}
