// The input is a collections file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "smdebug/error.h"
#include "src/index/collections_file.h"
#include "tests/fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using smdebug::fuzz::Require;
  using smdebug::index::CollectionsFile;
  using smdebug::index::ParseCollectionsFile;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CollectionsFile content;
  try {
    content = ParseCollectionsFile(text, "file");
  } catch (const smdebug::FormatError&) {
    return 0;
  }
  for (const auto& [name, collection] : content.collections) {
    Require(collection.name == name, "a collection has the name it is under");
  }
  Require(content.num_workers.value_or(1) >= 1, "there is a worker");
  Require(ParseCollectionsFile(ToJson(content), "file") == content,
          "a file that was read and written reads equal");
  return 0;
}
