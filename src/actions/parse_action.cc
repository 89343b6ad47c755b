#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "smdebug/error.h"
#include "src/actions/action_type.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/config/nearest.h"

namespace smdebug {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Parse(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) != "\\\"") plain.push_back(text[i]);
  }
  return Json::parse(plain, nullptr, false);
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : Dump(value);
}

// Entries by key in lower case; null for what is missing.
class Entries {
 public:
  explicit Entries(const Json& object) {
    for (const auto& [key, value] : object.items()) {
      values_.try_emplace(base::Lower(key), value);
    }
  }

  const Json* Find(const std::vector<std::string_view>& keys) const {
    for (const std::string_view key : keys) {
      const auto found = values_.find(key);
      if (found != values_.end() && !found->second.is_null()) {
        return &found->second;
      }
    }
    return nullptr;
  }

 private:
  std::map<std::string, Json, std::less<>> values_;
};

// Those of action_json: "stoptraining", "email" and so on.
std::vector<std::string> JsonNames() {
  std::vector<std::string> names;
  for (const actions::ActionType& type : actions::ActionTypes()) {
    names.emplace_back(type.json_name.empty() ? type.name : type.json_name);
  }
  return names;
}

// Throws Error if it is no action.
ActionSpec SpecOf(const Json& object) {
  if (!object.is_object()) throw Error("it is not an object");
  const Entries entries(object);
  const Json* const name = entries.Find({"name"});
  const actions::ActionType* const type =
      name != nullptr && name->is_string()
          ? actions::FindActionType(base::Trim(TextOf(*name)))
          : nullptr;
  if (type == nullptr) {
    const std::string given = name == nullptr ? "" : TextOf(*name);
    throw ConfigError("name", given, config::OneOf(given, JsonNames()));
  }
  ActionSpec spec{.kind = std::string(type->name)};
  std::string_view missing = type->target_keys.front();
  if (!type->prefix_key.empty()) {
    missing = type->prefix_key;
    const Json* const prefix = entries.Find({type->prefix_key});
    if (prefix != nullptr) spec.job_prefix = TextOf(*prefix);
  }
  const Json* const target = entries.Find(type->target_keys);
  if (target == nullptr && spec.job_prefix.empty()) {
    throw Error(fmt::format("{} is missing", missing));
  }
  if (target != nullptr) spec.target = base::Trim(TextOf(*target));
  actions::CheckTarget(*type, spec.target);
  return spec;
}

}  // namespace

ActionSpec ParseAction(std::string_view text) {
  const std::string_view trimmed = base::Trim(text);
  const size_t colon = trimmed.find(':');
  const bool has_target = colon != std::string_view::npos;
  const std::string_view target =
      has_target ? base::Trim(trimmed.substr(colon + 1)) : "";
  const std::string_view name = trimmed.substr(0, colon);
  const actions::ActionType* const type = actions::FindActionType(name);
  if (type == nullptr) {
    throw ConfigError("action", text, actions::AllowedActions(name));
  }
  if (has_target ? target.empty() : type->needs_target) {
    throw ConfigError("action", text, type->forms);
  }
  actions::CheckTarget(*type, target);
  return {.kind = std::string(type->name), .target = std::string(target)};
}

std::vector<ActionSpec> ParseActionJson(std::string_view json,
                                        std::string_view rule) {
  return actions::ReadActionJson(
      json, [rule](const std::string& part, const std::string& why) {
        base::LogWarning("{}: left out action {}: {}", rule, part, why);
      });
}

namespace actions {

std::vector<ActionSpec> ReadActionJson(std::string_view json,
                                       const LeaveOut& leave_out) {
  std::vector<ActionSpec> specs;
  const std::string_view trimmed = base::Trim(json);
  if (trimmed.empty()) return specs;
  const Json parsed = Parse(trimmed);
  if (!parsed.is_object() && !parsed.is_array()) {
    leave_out(std::string(trimmed),
              "it is not a JSON object or a list of objects");
    return specs;
  }
  const Json list = parsed.is_array() ? parsed : Json::array({parsed});
  for (const Json& object : list) {
    std::string why;
    try {
      specs.push_back(SpecOf(object));
    } catch (const Error& error) {
      why = error.what();
    }
    if (!why.empty()) leave_out(Dump(object), why);
  }
  return specs;
}

}  // namespace actions
}  // namespace smdebug
