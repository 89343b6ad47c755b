// Plays scenarios through the public API, so that the Python tests can compare
// what a hook wrote with what was asked of it.
//
// Reads one JSON object per line from standard input, plays it, and answers
// with one JSON object per line: {"stats": [...]} with the counters of each
// hook, or {"error": text}. tests/python/support/scenario.py describes the
// objects.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "smdebug/mode.h"
#include "smdebug/tensor.h"

namespace {

using nlohmann::json;
using smdebug::Hook;
using smdebug::HookConfig;

// A scenario that is wrong in itself, as opposed to one that the hook refuses.
class BadScenario : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::vector<std::byte> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadScenario("cannot read " + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

HookConfig ConfigOf(const json& spec) {
  if (spec.contains("json")) {
    return smdebug::ParseHookConfig(spec.at("json").get<std::string>(),
                                    smdebug::Framework::kNative);
  }
  HookConfig config;
  config.out_dir = spec.at("out_dir");
  config.export_tensorboard = spec.value("export_tensorboard", false);
  config.tensorboard_dir = spec.value("tensorboard_dir", "");
  config.dry_run = spec.value("dry_run", false);
  config.save_all = spec.value("save_all", false);
  config.include_regex =
      spec.value("include_regex", std::vector<std::string>{});
  config.include_collections =
      spec.value("include_collections", std::vector<std::string>{});
  if (spec.value("include_workers", "one") == "all") {
    config.include_workers = smdebug::IncludeWorkers::kAll;
  }
  if (spec.contains("reduction_config")) {
    config.reduction_config =
        smdebug::ReductionConfigFromJson(spec["reduction_config"].dump());
  }
  if (spec.contains("save_config")) {
    config.save_config =
        smdebug::SaveConfigFromJson(spec["save_config"].dump());
  }
  for (const json& collection : spec.value("collections", json::array())) {
    config.collections.push_back(
        smdebug::CollectionFromJson(collection.dump()));
  }
  return config;
}

std::unique_ptr<Hook> MakeHook(const json& spec) {
  smdebug::RuntimeOptions runtime;
  runtime.strict = spec.value("strict", true);
  // Files appear because of what a scenario does, never because time passes.
  runtime.scalar_delay = std::chrono::hours(1);
  if (spec.contains("devices")) {
    return Hook::OfWorkers(ConfigOf(spec),
                           smdebug::Worker::OfDevices(
                               spec["devices"].get<std::vector<std::string>>()),
                           runtime);
  }
  return std::make_unique<Hook>(
      ConfigOf(spec),
      smdebug::Worker::OfRank(spec.value("rank", 0), spec.value("workers", 1)),
      runtime);
}

// A tensor of a scenario: a view into the blob, and what the view points at.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<std::string> texts;
  std::vector<std::string_view> text_views;
  smdebug::TensorView view;
};

Tensor TensorOf(const json& action, const std::vector<std::byte>& blob) {
  Tensor tensor;
  if (action.contains("strings")) {
    action.at("strings").get_to(tensor.texts);
    tensor.text_views.assign(tensor.texts.begin(), tensor.texts.end());
    tensor.shape = {static_cast<int64_t>(tensor.texts.size())};
    tensor.view.dtype = smdebug::DType::kString;
    tensor.view.data = tensor.text_views.data();
  } else {
    const auto dtype =
        smdebug::ParseDType(action.at("dtype").get<std::string>());
    if (!dtype) throw BadScenario("unknown dtype in " + action.dump());
    action.at("shape").get_to(tensor.shape);
    if (action.contains("strides")) action["strides"].get_to(tensor.strides);
    tensor.view.dtype = *dtype;
    tensor.view.data = blob.data() + action.at("offset").get<size_t>();
  }
  tensor.view.shape = tensor.shape;
  tensor.view.strides = tensor.strides;
  return tensor;
}

smdebug::Mode ModeOf(const json& action) {
  const auto mode = smdebug::ParseMode(action.at("mode").get<std::string>());
  if (!mode) throw BadScenario("unknown mode in " + action.dump());
  return *mode;
}

void Save(const json& action, const std::vector<std::byte>& blob, Hook& hook) {
  const Tensor tensor = TensorOf(action, blob);
  const std::string name = action.at("name");
  if (!action.contains("collections")) {
    smdebug::SaveOptions options;
    const std::string original = action.value("original_name", "");
    options.original_name = original;
    if (action.contains("worker")) options.worker = action["worker"];
    return hook.Save(name, tensor.view, options);
  }
  const std::vector<std::string> names = action["collections"];
  const std::vector<std::string_view> views(names.begin(), names.end());
  hook.SaveTensor(name, tensor.view, views);
}

void SaveScalar(const json& action, Hook& hook) {
  smdebug::ScalarOptions options;
  if (action.contains("timestamp")) options.timestamp = action["timestamp"];
  options.sm_metric = action.value("sm_metric", false);
  // Infinities and NaN have no JSON number; they come as text.
  const json& value = action.at("value");
  hook.SaveScalar(action.at("name").get<std::string>(),
                  value.is_string() ? std::stod(value.get<std::string>())
                                    : value.get<double>(),
                  options);
}

void Play(const json& action, const std::vector<std::byte>& blob, Hook& hook) {
  const std::string what = action.at("do");
  if (what == "save") {
    Save(action, blob, hook);
  } else if (what == "save_scalar") {
    SaveScalar(action, hook);
  } else if (what == "begin_step") {
    if (action.contains("step")) {
      hook.BeginStep(action["step"].get<int64_t>());
    } else {
      hook.BeginStep();
    }
  } else if (what == "end_step") {
    hook.EndStep();
  } else if (what == "set_mode") {
    hook.SetMode(ModeOf(action));
  } else if (what == "close") {
    hook.Close();
  } else {
    throw BadScenario("unknown action " + action.dump());
  }
}

json StatsOf(const Hook& hook) {
  const smdebug::HookStats stats = hook.stats();
  return {{"steps_saved", stats.steps_saved},
          {"tensors_saved", stats.values_saved},
          {"bytes_saved", stats.bytes_saved},
          {"scalars_saved", stats.scalars_saved},
          {"dropped", stats.dropped},
          {"skipped", stats.skipped},
          {"errors", stats.errors},
          {"lost", stats.lost}};
}

json PlayScenario(const json& scenario) {
  std::vector<std::byte> blob;
  if (scenario.contains("blob")) blob = ReadFile(scenario["blob"]);
  std::vector<std::unique_ptr<Hook>> hooks;
  for (const json& spec : scenario.at("hooks")) hooks.push_back(MakeHook(spec));
  for (const json& action : scenario.at("actions")) {
    Play(action, blob, *hooks.at(action.value("hook", size_t{0})));
  }
  json stats = json::array();
  for (const auto& hook : hooks) {
    hook->Close();
    stats.push_back(StatsOf(*hook));
  }
  return {{"stats", stats}};
}

}  // namespace

int main() try {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    json answer;
    try {
      answer = PlayScenario(json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << "\n" << std::flush;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "scenario_driver: " << error.what() << "\n";
  return 1;
}
