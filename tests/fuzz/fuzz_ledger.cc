// The input is a ledger.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "smdebug/error.h"
#include "src/run/ledger.h"
#include "tests/fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using smdebug::fuzz::Require;
  using smdebug::run::Ledger;
  using smdebug::run::ParseLedger;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Ledger ledger;
  try {
    ledger = ParseLedger(text, "file");
  } catch (const smdebug::FormatError&) {
    return 0;
  }
  Require(ledger.num_workers >= 1, "there is a worker");
  Require(ledger.pid >= 0 && ledger.last_step >= -1 && ledger.stats.lost >= 0,
          "no count is negative");
  Require(ParseLedger(ToJson(ledger), "file") == ledger,
          "a ledger that was read and written reads equal");
  return 0;
}
