#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/json_writer.h"
#include "src/config/framework.h"
#include "src/config/plan.h"
#include "src/config/schedule_words.h"
#include "src/config/text_table.h"

namespace smdebug::config {
namespace {

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

std::string LowerName(Mode mode) {
  std::string name(ModeName(mode));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return name;
}

// One line per schedule, with its modes in front unless all share it.
TextTable::Cell WhenCell(const PlannedCollection& planned) {
  std::vector<std::pair<std::string, std::string>> groups;  // Words, modes.
  for (const Mode mode : kModes) {
    const std::string words = WhenInWords(planned, mode);
    const auto group = std::ranges::find(
        groups, words, &std::pair<std::string, std::string>::first);
    if (group == groups.end()) {
      groups.emplace_back(words, LowerName(mode));
    } else {
      group->second += ", " + LowerName(mode);
    }
  }
  if (groups.size() == 1) return {groups.front().first};
  TextTable::Cell lines;
  for (const auto& [words, modes] : groups) {
    lines.push_back(fmt::format("{}: {}", modes, words));
  }
  return lines;
}

// "raw", "reductions mean, abs_max", "shape", "histogram": a line each.
TextTable::Cell WhatCell(const PlannedCollection& planned, bool tensorboard) {
  const ReductionConfig& form = planned.Form();
  TextTable::Cell lines;
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

TextTable::Cell TensorsCell(const Collection& collection) {
  TextTable::Cell lines = collection.include_regex;
  for (const std::string& name : collection.tensor_names) {
    lines.push_back("= " + name);
  }
  if (lines.empty()) lines.emplace_back("-");
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

std::string DescribePlan(const HookConfig& config, const Plan& plan) {
  const std::string tensorboard = TensorboardDir(config);
  TextTable head;
  head.AddRow({{"framework"}, {std::string(FrameworkName(config.framework))}});
  head.AddRow({{"out_dir"}, {config.out_dir}});
  head.AddRow(
      {{"workers"}, {std::string(WorkersName(config.include_workers))}});
  head.AddRow({{"tensorboard"}, {tensorboard.empty() ? "off" : tensorboard}});
  if (config.dry_run) head.AddRow({{"dry_run"}, {"yes: nothing is written"}});

  TextTable table;
  table.AddRow({{"collection"}, {"saved"}, {"when"}, {"what"}, {"tensors"}});
  for (const bool saved : {true, false}) {
    for (const auto& [name, planned] : plan) {
      if (planned.saved != saved) continue;
      table.AddRow({{name},
                    {saved ? "yes" : "no"},
                    WhenCell(planned),
                    WhatCell(planned, !tensorboard.empty()),
                    TensorsCell(planned.collection)});
    }
  }
  return head.Layout() + "\n" + table.Layout();
}

std::string PlanToJson(const HookConfig& config, const Plan& plan) {
  const std::string tensorboard = TensorboardDir(config);
  base::JsonWriter json;
  json.BeginObject();
  json.Key("framework").String(FrameworkName(config.framework));
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

}  // namespace smdebug::config
