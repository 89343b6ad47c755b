#include "src/cli/output/plan_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/json_writer.h"
#include "src/base/text.h"
#include "src/cli/output/schedule_words.h"
#include "src/cli/output/table.h"
#include "src/cli/output/text.h"
#include "src/config/framework.h"

namespace smdebug::cli {
namespace {

using config::PlannedCollection;
using CellLines = std::vector<std::string>;

std::string_view WorkersName(IncludeWorkers workers) {
  return workers == IncludeWorkers::kAll ? "all" : "one";
}

// Whether a step of `mode` can be due at all.
bool IsDueIn(const PlannedCollection& planned, Mode mode) {
  return !planned.train_only || mode == Mode::kTrain || mode == Mode::kGlobal;
}

std::string WhenInWords(const PlannedCollection& planned, Mode mode) {
  return IsDueIn(planned, mode) ? InWords(planned.Schedule(mode)) : "never";
}

// One line per schedule, with its modes in front unless all share it.
CellLines WhenCell(const PlannedCollection& planned) {
  std::vector<std::pair<std::string, std::string>> groups;  // Words, modes.
  for (const Mode mode : kModes) {
    const std::string words = WhenInWords(planned, mode);
    const auto group = std::ranges::find(
        groups, words, &std::pair<std::string, std::string>::first);
    if (group == groups.end()) {
      groups.emplace_back(words, base::Lower(ModeName(mode)));
    } else {
      group->second += ", " + base::Lower(ModeName(mode));
    }
  }
  if (groups.size() == 1) return {groups.front().first};
  CellLines lines;
  for (const auto& [words, modes] : groups) {
    lines.push_back(fmt::format("{}: {}", modes, words));
  }
  return lines;
}

// "raw", "reductions mean, abs_max", "shape", "histogram": a line each.
CellLines WhatCell(const PlannedCollection& planned, bool tensorboard) {
  const ReductionConfig& form = planned.Form();
  CellLines lines;
  if (form.save_raw_tensor) lines.emplace_back("raw");
  if (!form.reductions.empty()) {
    std::vector<std::string> names;
    for (const Reduction reduction : form.reductions) {
      names.push_back(ReductionName(reduction));
    }
    lines.push_back(fmt::format("{}", fmt::join(names, ", ")));
  }
  if (form.save_shape) lines.emplace_back("shape");
  if (tensorboard && planned.collection.save_histogram) {
    lines.emplace_back("histogram");
  }
  if (lines.empty()) lines.emplace_back("nothing");
  return lines;
}

CellLines TensorsCell(const Collection& collection, Framework framework) {
  CellLines lines = collection.include_regex;
  for (const std::string& name : collection.tensor_names) {
    lines.push_back("= " + name);
  }
  if (lines.empty()) {
    const std::string others =
        config::OtherFrameworks(framework, collection.name);
    lines.push_back(others.empty() ? "-" : "- (filled by " + others + ")");
  }
  return lines;
}

void WriteStrings(const auto& strings, base::JsonWriter& json) {
  json.BeginArray();
  for (const auto& text : strings) json.String(text);
  json.EndArray();
}

void WriteCollection(const PlannedCollection& planned, base::JsonWriter& json) {
  const Collection& collection = planned.collection;
  json.BeginObject();
  json.Key("saved").Bool(planned.saved);
  json.Key("scalar_like").Bool(planned.scalar_like);
  json.Key("train_only").Bool(planned.train_only);
  json.Key("include_regex");
  WriteStrings(collection.include_regex, json);
  json.Key("tensor_names");
  WriteStrings(collection.tensor_names, json);
  json.Key("save_raw_tensor").Bool(planned.Form().save_raw_tensor);
  json.Key("save_shape").Bool(planned.Form().save_shape);
  json.Key("save_histogram").Bool(collection.save_histogram);
  json.Key("reductions").BeginArray();
  for (const Reduction reduction : planned.Form().reductions) {
    json.String(ReductionName(reduction));
  }
  json.EndArray();
  json.Key("save_config").Raw(ToJson(*collection.save_config));
  json.Key("when").BeginObject();
  for (const Mode mode : kModes) {
    json.Key(ModeName(mode)).String(WhenInWords(planned, mode));
  }
  json.EndObject();
  json.EndObject();
}

}  // namespace

std::string DescribePlan(const HookConfig& config, const config::Plan& plan) {
  const std::string tensorboard = config::TensorboardDir(config);
  std::string text;
  const auto head = [&](std::string_view key, std::string_view value) {
    text += fmt::format("{:<13}{}\n", key, Printable(value));
  };
  head("framework", config::FrameworkName(config.framework));
  head("out_dir", config.out_dir);
  head("workers", WorkersName(config.include_workers));
  head("tensorboard", tensorboard.empty() ? "off" : tensorboard);
  if (config.dry_run) head("dry_run", "yes: nothing is written");

  Table table({{.title = "collection"},
               {.title = "saved"},
               {.title = "when"},
               {.title = "what"},
               {.title = "tensors"}});
  for (const bool saved : {true, false}) {
    for (const auto& [name, planned] : plan) {
      if (planned.saved != saved) continue;
      table.AddTallRow({{name},
                        {saved ? "yes" : "no"},
                        WhenCell(planned),
                        WhatCell(planned, !tensorboard.empty()),
                        TensorsCell(planned.collection, config.framework)});
    }
  }
  return text + "\n" + table.Layout({});
}

std::string PlanToJson(const HookConfig& config, const config::Plan& plan) {
  const std::string tensorboard = config::TensorboardDir(config);
  base::JsonWriter json;
  json.BeginObject();
  json.Key("framework").String(config::FrameworkName(config.framework));
  json.Key("out_dir").String(config.out_dir);
  json.Key("include_workers").String(WorkersName(config.include_workers));
  json.Key("tensorboard_dir");
  if (tensorboard.empty()) {
    json.Null();
  } else {
    json.String(tensorboard);
  }
  json.Key("dry_run").Bool(config.dry_run);
  json.Key("collections").BeginObject();
  for (const auto& [name, planned] : plan) {
    json.Key(name);
    WriteCollection(planned, json);
  }
  return json.EndObject().EndObject().Take();
}

}  // namespace smdebug::cli
