#include "src/index/collections_file.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/json_reader.h"
#include "src/base/json_writer.h"

namespace smdebug::index {
namespace {

// Each collection is parsed once more, so this is less than the reader's own
// limit; half a million names still fit.
constexpr size_t kMostCollectionsBytes = size_t{64} << 20;

// The value under place.key; nullopt if it is missing. Throws if the key is
// there twice.
std::optional<base::JsonReader::Element> FindOne(
    const base::JsonReader& reader, base::JsonReader::Object object,
    base::JsonPlace place) {
  std::optional<base::JsonReader::Element> found;
  for (const auto [key, value] : object) {
    if (key != place.key) continue;
    if (found) reader.Fail(place, "is there twice");
    found = value;
  }
  return found;
}

Collection ParseCollection(const base::JsonReader& reader,
                           base::JsonReader::Element element,
                           base::JsonPlace place) {
  reader.GetObject(element, place);
  try {
    Collection collection = CollectionFromJson(simdjson::minify(element));
    collection.name = place.key;
    return collection;
  } catch (const ConfigError& error) {
    reader.Fail(place, error.what());
  }
}

std::optional<int64_t> ParseNumWorkers(const base::JsonReader& reader) {
  const base::JsonPlace meta = {.key = "_meta"};
  const auto found = FindOne(reader, reader.root(), meta);
  if (!found) return std::nullopt;
  const base::JsonPlace place = {.list = meta.key, .key = "num_workers"};
  const auto num_workers =
      FindOne(reader, reader.GetObject(*found, meta), place);
  if (!num_workers) return std::nullopt;
  return reader.GetInt(*num_workers, place, 1);
}

}  // namespace

std::string ToJson(const CollectionsFile& content) {
  base::JsonWriter json;
  json.BeginObject().Key("collections").BeginObject();
  for (const auto& [name, collection] : content.collections) {
    json.Key(name).Raw(ToJson(collection));
  }
  json.EndObject();
  if (content.num_workers) {
    json.Key("_meta").BeginObject();
    json.Key("num_workers").Int(*content.num_workers).EndObject();
  }
  return json.EndObject().Take();
}

CollectionsFile ParseCollectionsFile(std::string_view json,
                                     std::string_view file) {
  if (json.size() > kMostCollectionsBytes) {
    throw FormatError(file, fmt::format("is larger than {} MiB, the most that "
                                        "is read",
                                        kMostCollectionsBytes >> 20));
  }
  const base::JsonReader reader(json, file);
  const base::JsonPlace place = {.key = "collections"};
  const auto collections = FindOne(reader, reader.root(), place);
  if (!collections) reader.Fail(place, "is missing");
  CollectionsFile content;
  for (const auto [name, element] : reader.GetObject(*collections, place)) {
    const base::JsonPlace at = {.list = place.key, .key = name};
    Collection collection = ParseCollection(reader, element, at);
    if (!content.collections.emplace(name, std::move(collection)).second) {
      reader.Fail(at, "is there twice");
    }
  }
  content.num_workers = ParseNumWorkers(reader);
  return content;
}

}  // namespace smdebug::index
