#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "src/base/text.h"
#include "src/rules/engine/registry.h"

namespace smdebug {
namespace {

using Json = nlohmann::json;
using Items = std::vector<std::string>;

constexpr std::string_view kOtherTrial = "other_trial_";

int64_t ParseStep(const std::string& key, const Items& items) {
  const std::string text = fmt::format("{}", fmt::join(items, ","));
  const auto step = base::ParseInt(text);
  if (!step || *step < 0) {
    throw ConfigError(key, text, "a whole number of at least 0");
  }
  return *step;
}

std::vector<std::string> SplitAtCommas(const Items& items) {
  std::vector<std::string> parts;
  for (const std::string_view text : items) {
    for (std::string_view part : base::SplitAtCommas(text)) {
      part = base::Trim(part);
      if (!part.empty()) parts.emplace_back(part);
    }
  }
  return parts;
}

// The number of "other_trial_<n>"; -1 for any other name.
int64_t OtherTrialNumber(std::string_view name) {
  if (!name.starts_with(kOtherTrial)) return -1;
  return base::ParseInt(name.substr(kOtherTrial.size())).value_or(-1);
}

bool Declares(const RuleType* type, std::string_view parameter) {
  return type != nullptr &&
         std::ranges::find(type->parameters, parameter, &RuleParameter::name) !=
             type->parameters.end();
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class ConfigurationParser {
 public:
  explicit ConfigurationParser(std::string_view file) : file_(file) {}

  std::vector<RuleEvaluation> Parse(std::string_view text) const {
    Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) Refuse("is not JSON");
    if (json.is_object() && json.contains("DebugRuleConfigurations")) {
      json = Json(json["DebugRuleConfigurations"]);
    }
    if (!json.is_array()) {
      Refuse(
          "has no list DebugRuleConfigurations of objects with "
          "RuleConfigurationName and RuleParameters");
    }
    std::vector<RuleEvaluation> evaluations;
    std::set<std::string> names;
    for (const Json& item : json) {
      evaluations.push_back(ParseOne(item));
      if (!names.insert(evaluations.back().name).second) {
        Refuse(
            fmt::format("has two rules named '{}'", evaluations.back().name));
      }
    }
    return evaluations;
  }

 private:
  RuleEvaluation ParseOne(const Json& given) const {
    const bool wrapped =
        given.is_object() && given.contains("DebugRuleConfiguration");
    const Json& item = wrapped ? given["DebugRuleConfiguration"] : given;
    if (!item.is_object() || !item.contains("RuleConfigurationName") ||
        !item["RuleConfigurationName"].is_string()) {
      Refuse("has a rule without RuleConfigurationName");
    }
    const auto name = item["RuleConfigurationName"].get<std::string>();
    RuleSpec spec{.name = name};
    if (item.contains("RuleParameters")) {
      const Json& parameters = item["RuleParameters"];
      if (!parameters.is_object()) {
        Refuse(fmt::format("'{}' has RuleParameters that are no object", name));
      }
      for (const auto& [key, value] : parameters.items()) {
        if (key == "rule_to_invoke") {
          spec.name = TextOf(value);
        } else {
          spec.parameters[key] = {TextOf(value)};
        }
      }
    }
    const auto source = spec.parameters.find("source_s3_uri");
    if (source != spec.parameters.end() && FindRule(spec.name) == nullptr) {
      spec.file = source->second.front();
    }
    RuleEvaluation evaluation = ToEvaluation(std::move(spec));
    evaluation.name = name;
    return evaluation;
  }

  [[noreturn]] void Refuse(std::string_view reason) const {
    throw ConfigFileError(file_, 0, 0, reason);
  }

  const std::string file_;
};

}  // namespace

RuleEvaluation ToEvaluation(RuleSpec spec) {
  const RuleType* const type =
      spec.file.empty() ? &rules::RequireRule(spec.name) : nullptr;
  if (type != nullptr) spec.name = type->name;
  RuleEvaluation evaluation{.name = spec.name};
  evaluation.spec = std::move(spec);
  auto& parameters = evaluation.spec.parameters;
  std::map<int64_t, std::string> numbered;
  for (auto it = parameters.begin(); it != parameters.end();) {
    const auto& [name, items] = *it;
    const std::string key = evaluation.spec.name + "." + name;
    const int64_t number = OtherTrialNumber(name);
    if (name == "start_step" && !Declares(type, name)) {
      evaluation.start_step = ParseStep(key, items);
    } else if (name == "end_step") {
      evaluation.end_step = ParseStep(key, items);
    } else if (name == "other_trials") {
      evaluation.other_trials =
          evaluation.spec.commas_separate ? SplitAtCommas(items) : items;
    } else if (number >= 0) {
      numbered[number] = fmt::format("{}", fmt::join(items, ","));
    } else if (name == "action_json") {
      evaluation.action_json = fmt::format("{}", fmt::join(items, ","));
    } else if (name != "source_s3_uri") {
      ++it;
      continue;
    }
    it = Declares(type, name) ? std::next(it) : parameters.erase(it);
  }
  for (auto& [number, path] : numbered) {
    evaluation.other_trials.push_back(std::move(path));
  }
  return evaluation;
}

std::vector<RuleEvaluation> ParseRuleConfigurations(std::string_view json,
                                                    std::string_view file) {
  return ConfigurationParser(file).Parse(json);
}

void MakeNamesUnique(std::vector<RuleEvaluation>& evaluations) {
  std::set<std::string> taken;
  for (RuleEvaluation& evaluation : evaluations) {
    const std::string name = evaluation.name;
    for (int number = 2; !taken.insert(evaluation.name).second; ++number) {
      evaluation.name = fmt::format("{}-{}", name, number);
    }
  }
}

void RequireComplete(const RuleEvaluation& evaluation,
                     std::span<const std::string> other_trials) {
  if (!evaluation.spec.file.empty()) return;
  MakeRule(evaluation.spec);
  rules::RequireOtherTrial(
      rules::RequireRule(evaluation.spec.name),
      !evaluation.other_trials.empty() || !other_trials.empty());
}

std::string Describe(const RuleSpec& spec) {
  std::string name =
      spec.file.empty() ? spec.name : spec.file + ":" + spec.name;
  if (spec.parameters.empty()) return name;
  if (spec.commas_separate) {
    std::string text = name;
    for (const auto& [key, items] : spec.parameters) {
      text += fmt::format(":{}={}", key, fmt::join(items, ","));
    }
    return text;
  }
  Json parameters = Json::object();
  for (const auto& [key, items] : spec.parameters) {
    parameters[key] = items.size() == 1 ? Json(items.front()) : Json(items);
  }
  return name + parameters.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace smdebug
