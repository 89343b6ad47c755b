#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/rule.h"
#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/table.h"
#include "src/cli/output/text.h"
#include "src/rules/engine/registry.h"

namespace smdebug::cli {
namespace {

std::string_view KindName(RuleParameter::Kind kind) {
  using Kind = RuleParameter::Kind;
  switch (kind) {
    case Kind::kNumber:
      return "number";
    case Kind::kWhole:
      return "whole number";
    case Kind::kBool:
      return "true or false";
    case Kind::kText:
      return "text";
    case Kind::kList:
      return "list";
  }
  return "";
}

// As SageMaker's CollectionConfigurations have it.
Json CollectionsJson(const RuleType& type) {
  Json collections = Json::array();
  for (const RuleNeed& need : type.needs) {
    Json parameters = Json::object();
    for (const auto& [name, value] : need.parameters) parameters[name] = value;
    collections.push_back({{"CollectionName", need.collection},
                           {"CollectionParameters", std::move(parameters)}});
  }
  return collections;
}

Json TypeJson(const RuleType& type) {
  Json parameters = Json::array();
  for (const RuleParameter& parameter : type.parameters) {
    const auto bound = [](double value) {
      return std::isfinite(value) ? Json(value) : Json();
    };
    parameters.push_back(
        {{"name", parameter.name},
         {"type", KindName(parameter.kind)},
         {"default", parameter.fallback ? Json(*parameter.fallback) : Json()},
         {"least", bound(parameter.least)},
         {"most", bound(parameter.most)},
         {"open", parameter.open},
         {"meaning", parameter.meaning}});
  }
  return {{"name", type.name},
          {"summary", type.summary},
          {"parameters", std::move(parameters)},
          {"collections", CollectionsJson(type)}};
}

void PrintType(const RuleType& type, Streams streams) {
  streams.out << type.name << "\n  " << type.summary << "\n\n";
  Table table({{"Parameter"}, {"Default"}, {"Allowed"}, {"Meaning"}});
  for (const RuleParameter& parameter : type.parameters) {
    table.AddRow({parameter.name, parameter.fallback.value_or("-"),
                  parameter.Allowed(), parameter.meaning});
  }
  streams.out << table.Layout(streams.out_terminal) << '\n';
  if (type.needs.empty()) {
    streams.out << "Collections: whatever its parameters name\n";
    return;
  }
  streams.out << "Collections:\n";
  for (const RuleNeed& need : type.needs) {
    streams.out << "  " << need.collection;
    for (const auto& [name, value] : need.parameters) {
      streams.out << fmt::format("  {}={}", name, value);
    }
    streams.out << '\n';
  }
}

// `smdebug rules [name]`: what the rules are and what they take.
class RulesCommand final : public Command {
 public:
  std::string_view name() const override { return "rules"; }
  std::string_view summary() const override {
    return "List the built-in rules, or describe one.";
  }
  std::string_view examples() const override {
    return "  smdebug rules\n"
           "  smdebug rules VanishingGradient\n"
           "  smdebug rules --hook-config VanishingGradient > hook.json\n"
           "  smdebug rules --json | jq '.[].name'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "always"}, {kExitError, "there is no such rule"}};
  }
  std::string_view details() const override {
    return R"(With a name: its parameters, their defaults, what is allowed, and the collections that the rule needs. Names are found in any letter case. `--hook-config` prints the hook
configuration that saves those collections; without a name, those of all rules.

JSON: a list of objects, or the one that is asked for, with `name`, `summary`, `parameters` (`name`, `type`, `default`, `least`, `most`, `open`: whether the ends are
not allowed themselves, `meaning`) and `collections` (`CollectionName`, `CollectionParameters`).
)";
  }

  void Declare(CLI::App& app) override {
    app.add_option("name", name_, "The rule to describe; default: list all")
        ->type_name("");
    AddJson(app, json_);
    app.add_flag("--hook-config", hook_config_,
                 "Print the hook configuration that saves what it needs")
        ->excludes("--json");
  }

  int Run(Streams streams) override {
    const RuleType* one = name_.empty() ? nullptr : &rules::RequireRule(name_);
    if (hook_config_) {
      PrintJson(streams.out, HookConfigJson(one));
    } else if (json_ && one != nullptr) {
      PrintJson(streams.out, TypeJson(*one));
    } else if (json_) {
      Json all = Json::array();
      for (const RuleType& type : BuiltInRules()) all.push_back(TypeJson(type));
      PrintJson(streams.out, all);
    } else if (one != nullptr) {
      PrintType(*one, streams);
    } else {
      Table table({{"Rule"}, {"Fires when"}});
      for (const RuleType& type : BuiltInRules()) {
        table.AddRow({type.name, type.summary});
      }
      streams.out << table.Layout(streams.out_terminal);
    }
    return kExitOk;
  }

 private:
  // Of `one`, or of all rules: each collection once.
  static Json HookConfigJson(const RuleType* one) {
    Json collections = Json::array();
    for (const RuleType& type : BuiltInRules()) {
      if (one != nullptr && one != &type) continue;
      for (Json& collection : CollectionsJson(type)) {
        bool known = false;
        for (const Json& before : collections) {
          known |= before["CollectionName"] == collection["CollectionName"];
        }
        if (!known) collections.push_back(std::move(collection));
      }
    }
    return {{"CollectionConfigurations", std::move(collections)}};
  }

  std::string name_;
  bool json_ = false;
  bool hook_config_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRulesCommand() {
  return std::make_unique<RulesCommand>();
}

}  // namespace smdebug::cli
