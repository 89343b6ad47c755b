#include <utility>

#include <fmt/format.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "src/base/json_writer.h"
#include "src/config/json_text.h"
#include "src/config/reduction_config.h"
#include "src/config/save_config.h"

namespace smdebug {
namespace {

// An array of strings, taken as they are.
std::vector<std::string> ReadStrings(const config::Json& value,
                                     const std::string& key) {
  constexpr std::string_view kAllowed = "an array of strings";
  if (!value.is_array()) {
    throw ConfigError(key, config::ShowJson(value), kAllowed);
  }
  std::vector<std::string> strings;
  for (const config::Json& item : value) {
    if (!item.is_string()) {
      throw ConfigError(key, config::ShowJson(item), kAllowed);
    }
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

}  // namespace

std::string ToJson(const Collection& collection) {
  base::JsonWriter json;
  json.BeginObject();
  json.Key("name").String(collection.name);
  json.Key("include_regex").BeginArray();
  for (const std::string& regex : collection.include_regex) json.String(regex);
  json.EndArray();
  json.Key("tensor_names").BeginArray();
  for (const std::string& name : collection.tensor_names) json.String(name);
  json.EndArray();
  json.Key("reduction_config");
  if (collection.reduction_config) {
    json.Raw(ToJson(*collection.reduction_config));
  } else {
    json.Null();
  }
  json.Key("save_config");
  if (collection.save_config) {
    json.Raw(ToJson(*collection.save_config));
  } else {
    json.Null();
  }
  json.Key("save_histogram").Bool(collection.save_histogram);
  return json.EndObject().Take();
}

Collection CollectionFromJson(std::string_view json) {
  const config::Json value = config::ParseJsonValue(json, "collection");
  if (!value.is_object()) {
    throw ConfigError("collection", config::ShowJson(value), "an object");
  }
  Collection collection;
  std::string place = "collection";
  if (const auto name = value.find("name");
      name != value.end() && !name->is_null()) {
    if (!name->is_string()) {
      throw ConfigError("collection: name", config::ShowJson(*name),
                        "a string");
    }
    collection.name = name->get<std::string>();
    place += " " + collection.name;
  }
  for (const auto& [name, field] : value.items()) {
    const std::string key = fmt::format("{}: {}", place, name);
    if (field.is_null()) continue;
    if (name == "include_regex") {
      collection.include_regex = ReadStrings(field, key);
    } else if (name == "tensor_names") {
      for (std::string& tensor : ReadStrings(field, key)) {
        collection.tensor_names.insert(std::move(tensor));
      }
    } else if (name == "reduction_config") {
      collection.reduction_config = config::ReadReductionConfig(field, key);
    } else if (name == "save_config") {
      collection.save_config = config::ReadSaveConfig(field, key);
    } else if (name == "save_histogram") {
      collection.save_histogram = config::ReadBool(field, key);
    }
  }
  return collection;
}

}  // namespace smdebug
