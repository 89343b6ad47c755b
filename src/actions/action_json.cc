#include <map>

#include <nlohmann/json.hpp>

#include "smdebug/action.h"
#include "src/actions/spec.h"
#include "src/base/log.h"
#include "src/base/text.h"

namespace smdebug {
namespace {

using Json = nlohmann::json;

// Tells that a part of the JSON is left out, and why.
void LeaveOut(std::string_view rule, const Json& part, std::string_view why) {
  base::LogWarning("{}: left out action {}: {}", rule,
                   part.dump(-1, ' ', false, Json::error_handler_t::replace),
                   why);
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
  return value.is_string()
             ? value.get<std::string>()
             : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Entries by key in lower case; null for what is missing.
class Entries {
 public:
  explicit Entries(const Json& object) {
    for (const auto& [key, value] : object.items()) {
      values_.try_emplace(base::Lower(key), value);
    }
  }

  const Json* Find(std::initializer_list<std::string_view> keys) const {
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

std::optional<ActionSpec> SpecOf(const Json& object, std::string_view rule) {
  if (!object.is_object()) {
    LeaveOut(rule, object, "it is not an object");
    return std::nullopt;
  }
  const Entries entries(object);
  const Json* const name = entries.Find({"name"});
  const auto kind = name != nullptr && name->is_string()
                        ? actions::FindKind(base::Trim(TextOf(*name)))
                        : std::nullopt;
  if (!kind) {
    LeaveOut(rule, object,
             "its name is not stoptraining, email, sms, webhook or exec");
    return std::nullopt;
  }
  ActionSpec spec{.kind = *kind};
  const Json* target = nullptr;
  switch (*kind) {
    case ActionKind::kStop:
      target = entries.Find({"pid"});
      if (const Json* prefix = entries.Find({"training_job_prefix"})) {
        spec.job_prefix = TextOf(*prefix);
      }
      if (target == nullptr && spec.job_prefix.empty()) {
        LeaveOut(rule, object, "training_job_prefix is missing");
        return std::nullopt;
      }
      break;
    case ActionKind::kEmail:
    case ActionKind::kSms:
      target = entries.Find({"endpoint"});
      break;
    case ActionKind::kWebhook:
      target = entries.Find({"endpoint", "url"});
      break;
    case ActionKind::kExec:
      target = entries.Find({"command", "endpoint"});
      break;
  }
  if (target == nullptr && *kind != ActionKind::kStop) {
    LeaveOut(rule, object,
             *kind == ActionKind::kExec ? "command is missing"
                                        : "endpoint is missing");
    return std::nullopt;
  }
  if (target != nullptr) spec.target = base::Trim(TextOf(*target));
  actions::CheckTarget(spec);
  return spec;
}

}  // namespace

std::vector<ActionSpec> ParseActionJson(std::string_view json,
                                        std::string_view rule) {
  std::vector<ActionSpec> specs;
  const std::string_view trimmed = base::Trim(json);
  if (trimmed.empty()) return specs;
  const Json parsed = Parse(trimmed);
  if (!parsed.is_object() && !parsed.is_array()) {
    base::LogWarning(
        "{}: left out actions: they are not a JSON object or a list of "
        "objects: {}",
        rule, trimmed);
    return specs;
  }
  const Json list = parsed.is_array() ? parsed : Json::array({parsed});
  for (const Json& object : list) {
    try {
      if (auto spec = SpecOf(object, rule)) specs.push_back(*std::move(spec));
    } catch (const ConfigError& error) {
      LeaveOut(rule, object, error.what());
    }
  }
  return specs;
}

}  // namespace smdebug
