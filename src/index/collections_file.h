#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "smdebug/config.h"

namespace smdebug::index {

// What a worker's collections file says (docs/formats/run-folder.md).
struct CollectionsFile {
  // By name, which is also the `name` of each.
  std::map<std::string, Collection, std::less<>> collections = {};
  std::optional<int64_t> num_workers = {};  // Absent: 1, as in smdebug 1.0.

  friend bool operator==(const CollectionsFile&,
                         const CollectionsFile&) = default;
};

// The file's text, byte for byte as smdebug 1.0 lays it out, sorted by name.
std::string ToJson(const CollectionsFile& content);

// Throws FormatError, naming `file`, for anything that is not such a file.
// Unknown keys are ignored. Regexes are texts here: they are not compiled.
CollectionsFile ParseCollectionsFile(std::string_view json,
                                     std::string_view file);

}  // namespace smdebug::index
