#include "src/config/reduction_config.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/json_writer.h"
#include "src/config/nearest.h"

namespace smdebug {
namespace {

constexpr std::string_view kReductionsKey = "reductions";
// smdebug 1.0 refuses to open a run whose "reductions" name one it does not
// know, and ignores keys that it does not know.
constexpr std::string_view kNewReductionsKey = "more_reductions";

bool IsNorm(Reduction reduction) {
  return TypeOf(reduction.op).kind == ReductionKind::kNorm;
}

bool IsNew(Reduction reduction) { return TypeOf(reduction.op).is_new; }

void AppendItem(Reduction reduction, std::string& list) {
  if (!list.empty()) list += ',';
  list += ReductionName(reduction);
  if (IsNorm(reduction)) list += "_norm";
}

}  // namespace

std::string ToJson(const ReductionConfig& config) {
  std::string known;
  std::string added;
  for (const Reduction reduction : config::InWrittenOrder(config.reductions)) {
    AppendItem(reduction, IsNew(reduction) ? added : known);
  }
  base::JsonWriter json;
  json.BeginObject();
  json.Key("save_raw_tensor").Bool(config.save_raw_tensor);
  json.Key(kReductionsKey).String(known);
  json.Key("save_shape").Bool(config.save_shape);
  if (!added.empty()) json.Key(kNewReductionsKey).String(added);
  return json.EndObject().Take();
}

ReductionConfig ReductionConfigFromJson(std::string_view json) {
  return config::ReadReductionConfig(
      config::ParseJsonValue(json, "reduction_config"), "reduction_config");
}

namespace config {

ReductionConfig RawOnly() {
  ReductionConfig form;
  form.save_raw_tensor = true;
  return form;
}

bool SavesAnything(const ReductionConfig& form) noexcept {
  return form.save_raw_tensor || form.save_shape || !form.reductions.empty();
}

std::vector<Reduction> InWrittenOrder(
    const std::vector<Reduction>& reductions) {
  std::vector<Reduction> ordered;
  for (const Reduction reduction : reductions) {
    if (std::ranges::find(ordered, reduction) == ordered.end()) {
      ordered.push_back(reduction);
    }
  }
  std::ranges::stable_sort(ordered, {}, [](Reduction reduction) {
    return std::tuple(reduction.abs, IsNorm(reduction), IsNew(reduction));
  });
  return ordered;
}

std::string AllowedReductions(std::string_view name) {
  std::vector<std::string> names;
  for (const bool abs : {false, true}) {
    for (const ReductionOp op : kReductionOps) {
      names.push_back(ReductionName({op, abs}));
    }
  }
  const std::string meant = DidYouMean(name, names);
  return ReductionNames() + (meant.empty() ? "" : "; " + meant);
}

std::vector<Reduction> ReadReductions(const Json& value, std::string_view key) {
  std::vector<Reduction> reductions;
  for (const std::string& name : ReadNames(value, key)) {
    reductions.push_back(RequireReduction(key, name));
  }
  return InWrittenOrder(reductions);
}

ReductionConfig ReadReductionConfig(const Json& value,
                                    const std::string& place) {
  if (!value.is_object()) {
    throw ConfigError(place, ShowJson(value), "an object or null");
  }
  const auto read = [&](std::string_view name, auto use) {
    const auto field = value.find(std::string(name));
    if (field == value.end() || field->is_null()) return;
    use(*field, place + "." + std::string(name));
  };
  ReductionConfig config;
  read("save_raw_tensor", [&](const Json& field, const std::string& key) {
    config.save_raw_tensor = ReadBool(field, key);
  });
  read("save_shape", [&](const Json& field, const std::string& key) {
    config.save_shape = ReadBool(field, key);
  });
  for (const std::string_view name : {kReductionsKey, kNewReductionsKey}) {
    read(name, [&](const Json& field, const std::string& key) {
      const auto reductions = ReadReductions(field, key);
      config.reductions.insert(config.reductions.end(), reductions.begin(),
                               reductions.end());
    });
  }
  config.reductions = InWrittenOrder(config.reductions);
  return config;
}

}  // namespace config

Reduction RequireReduction(std::string_view key, std::string_view name) {
  const auto reduction = ParseReduction(name);
  if (!reduction) {
    throw ConfigError(key, name, config::AllowedReductions(name));
  }
  return *reduction;
}

}  // namespace smdebug
