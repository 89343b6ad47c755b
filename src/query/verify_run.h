#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/query/json.h"

namespace smdebug::query {

// What a look at every byte of a run found.
struct VerifyResult {
  std::string run;  // The root of its store.
  int64_t index_files = 0;
  int64_t event_files = 0;
  int64_t values = 0;  // Records that an index names, reductions included.
  uint64_t bytes = 0;  // Of the event files.
  int64_t without_checksum = 0;  // Of the values; smdebug 1.0 writes none.
  std::vector<Damage> damage;
  // Event files of steps whose index is damaged or gone, which alone could tell
  // what they hold. The damage is that of the index.
  struct Unchecked {
    std::string file;
    std::string index;
  };
  std::vector<Unchecked> unchecked;
  // Other event files that no index names: what a killed writer leaves. Not
  // damage.
  std::vector<std::string> leftovers;
};

// The bytes that VerifyRun() will read. Throws IoError.
uint64_t BytesToVerify(const Storage& storage);

// Reads every file of a run: collections, ledgers, indexes, and in the event
// files every record, whose framing, checksum, content and name are checked.
// Tells `progress` of each piece that was read, by its size. Throws IoError,
// and FormatError if the folder holds no run at all.
VerifyResult VerifyRun(const Storage& storage,
                       const std::function<void(uint64_t)>& progress);

// As `smdebug verify --json` has it (docs/reference/cli.md).
Json ToJson(const VerifyResult& result);

}  // namespace smdebug::query
