#include "tests/testing/run_document.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/mode.h"
#include "smdebug/reduction.h"
#include "tests/testing/hex.h"

namespace smdebug::testing {
namespace {

using nlohmann::json;

template <typename Leaf>
bool Is(const Error& error) {
  return dynamic_cast<const Leaf*>(&error) != nullptr;
}

// The name of the class of `error`, without namespace.
std::string_view ClassName(const Error& error) {
  constexpr std::pair<std::string_view, bool (*)(const Error&)> kLeaves[] = {
      {"StepUnavailable", Is<StepUnavailable>},
      {"StepNotYetAvailable", Is<StepNotYetAvailable>},
      {"TensorUnavailableForStep", Is<TensorUnavailableForStep>},
      {"ShapeUnavailableForStep", Is<ShapeUnavailableForStep>},
      {"TensorUnavailable", Is<TensorUnavailable>},
      {"InvalidWorker", Is<InvalidWorker>},
      {"NoMoreData", Is<NoMoreData>},
      {"MissingCollectionFiles", Is<MissingCollectionFiles>},
      {"FormatError", Is<FormatError>},
      {"ConfigError", Is<ConfigError>},
      {"IoError", Is<IoError>}};
  for (const auto& [name, matches] : kLeaves) {
    if (matches(error)) return name;
  }
  return "Error";
}

// What `ask` gives, or what it throws.
template <typename Ask>
json Answer(Ask ask) {
  try {
    return ask();
  } catch (const Error& error) {
    return {{"error", ClassName(error)}};
  }
}

// Questions that are missing are none.
json Asked(const json& questions, const char* key) {
  return questions.value(key, json::array());
}

Mode ModeOf(const json& name) {
  const auto mode = ParseMode(name.get<std::string>());
  if (!mode) throw std::invalid_argument("no mode: " + name.dump());
  return *mode;
}

template <typename T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json NumberOf(double number) {
  if (std::isfinite(number)) return number;
  if (std::isnan(number)) return "nan";
  return number > 0 ? "inf" : "-inf";
}

json ValueOf(const Value& value) {
  json document = {{"dtype", DTypeName(value.dtype())},
                   {"shape", value.shape()}};
  if (value.dtype() == DType::kString) {
    document["strings"] = value.strings();
    return document;
  }
  const Bytes bytes = value.bytes();
  document["bytes"] =
      ToHex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return document;
}

json CountsOf(const ValueCounts& counts) {
  return {{"dtype", DTypeName(counts.dtype)},
          {"count", counts.count},
          {"nan", counts.nan},
          {"pos_inf", counts.pos_inf},
          {"neg_inf", counts.neg_inf},
          {"zero", counts.zero}};
}

// Every reduction of smdebug 1.0, saved or computed.
json ComputedOf(const Tensor& tensor, int64_t step, Mode mode,
                const std::string& worker) {
  json computed = json::object();
  for (const ReductionOp op : kReductionOps) {
    if (op == ReductionOp::kMedian) continue;
    for (const bool abs : {false, true}) {
      const Reduction reduction = {op, abs};
      computed[ReductionName(reduction)] = Answer([&] {
        return NumberOf(tensor.ReductionValue(step, reduction, mode, worker));
      });
    }
  }
  return computed;
}

json EntryOf(const Tensor& tensor, int64_t step, Mode mode,
             const std::string& worker, bool computed) {
  json entry;
  entry["value"] =
      Answer([&] { return ValueOf(tensor.At(step, mode, worker)); });
  entry["shape"] =
      Answer([&] { return json(tensor.Shape(step, mode, worker)); });
  entry["reductions"] = Answer([&] {
    json saved = json::object();
    for (const auto& [reduction, number] :
         tensor.ReductionValues(step, mode, worker)) {
      saved[ReductionName(reduction)] = NumberOf(number);
    }
    return saved;
  });
  if (computed && mode == Mode::kGlobal) {
    entry["computed"] = ComputedOf(tensor, step, mode, worker);
  }
  if (const auto counts = tensor.Counts(step, mode, worker)) {
    entry["counts"] = CountsOf(*counts);
  }
  return entry;
}

// Of a trial or of one of its tensors.
template <typename Owner>
json StepsOf(Owner& owner) {
  json steps;
  for (const Mode mode : kModes) {
    const std::vector<int64_t> all = owner.Steps(mode, true);
    if (all.empty() && mode != Mode::kGlobal) continue;
    steps[std::string(ModeName(mode))] = {{"complete", owner.Steps(mode)},
                                          {"all", all}};
  }
  return steps;
}

json TensorOf(const Tensor& tensor, bool computed) {
  json at = json::object();
  for (const Mode mode : kModes) {
    for (const int64_t step : tensor.Steps(mode, true)) {
      json& of_step = at[std::string(ModeName(mode))][std::to_string(step)];
      for (const std::string& worker : tensor.Workers(step, mode)) {
        of_step[worker] = EntryOf(tensor, step, mode, worker, computed);
      }
    }
  }
  return {{"original_name", OrNull(tensor.original_name())},
          {"steps", StepsOf(tensor)},
          {"at", at}};
}

json StampsOf(Trial& trial) {
  json stamps = json::array();
  for (const int64_t step : trial.Steps(Mode::kGlobal, true)) {
    stamps.push_back({step, ModeName(trial.ModeOf(step).value()),
                      trial.ModeStep(step).value()});
  }
  return stamps;
}

json PassedOf(Trial& trial, Mode mode, int64_t step) {
  json answer = {{"state", StepStateName(trial.HasPassedStep(step, mode))},
                 {"global_step", OrNull(trial.GlobalStep(mode, step))}};
  if (mode == Mode::kGlobal) {
    const std::optional<Mode> of = trial.ModeOf(step);
    answer["mode"] = of ? json(ModeName(*of)) : json();
    answer["mode_step"] = OrNull(trial.ModeStep(step));
  }
  return answer;
}

json LookupOf(Trial& trial, const json& question) {
  const int64_t step = question.at("step");
  const Mode mode = ModeOf(question.at("mode"));
  std::optional<std::string> name;
  if (question.contains("worker")) name = question["worker"];
  const auto worker = name ? WorkerName(*name) : WorkerName();
  return Answer([&]() -> json {
    const Tensor tensor =
        trial.tensor(question.at("tensor").get<std::string>());
    return {
        {"value",
         Answer([&] { return ValueOf(tensor.At(step, mode, worker)); })},
        {"shape",
         Answer([&] { return json(tensor.Shape(step, mode, worker)); })},
        {"workers", Answer([&] { return json(tensor.Workers(step, mode)); })}};
  });
}

TensorFilter FilterOf(const json& question) {
  TensorFilter filter;
  if (question.contains("step")) filter.step = question["step"];
  if (question.contains("mode")) filter.mode = ModeOf(question["mode"]);
  if (question.contains("regex")) filter.regexes = question["regex"];
  if (question.contains("collection")) {
    filter.collection = question["collection"].get<std::string>();
  }
  return filter;
}

json ModelValuesOf(Trial& trial, const std::string& what, Mode mode,
                   int64_t step) {
  const std::vector<Value> values = what == "inputs" ? trial.Inputs(step, mode)
                                    : what == "labels"
                                        ? trial.Labels(step, mode)
                                        : trial.Predictions(step, mode);
  json documents = json::array();
  for (const Value& value : values) documents.push_back(ValueOf(value));
  return documents;
}

json AnswersOf(Trial& trial, const json& questions) {
  json answers;
  for (const json& q : Asked(questions, "passed")) {
    answers["passed"].push_back(PassedOf(trial, ModeOf(q[0]), q[1]));
  }
  for (const json& q : Asked(questions, "lookups")) {
    answers["lookups"].push_back(LookupOf(trial, q));
  }
  for (const json& q : Asked(questions, "names")) {
    answers["names"].push_back(
        Answer([&] { return json(trial.TensorNames(FilterOf(q))); }));
  }
  for (const json& q : Asked(questions, "waits")) {
    const std::vector<int64_t> steps = q[1];
    answers["waits"].push_back(Answer([&] {
      constexpr std::chrono::milliseconds kNoTime{0};
      const bool ready = trial.WaitForSteps(steps, ModeOf(q[0]), kNoTime);
      return json(ready ? "ready" : "not yet");
    }));
  }
  for (const json& q : Asked(questions, "previous")) {
    answers["previous"].push_back(Answer([&] {
      const Tensor tensor = trial.tensor(q[0].get<std::string>());
      return json(tensor.PrevSteps(q[2], q[3].get<size_t>(), ModeOf(q[1])));
    }));
  }
  for (const json& q : Asked(questions, "model")) {
    answers["model"].push_back(
        Answer([&] { return ModelValuesOf(trial, q[0], ModeOf(q[1]), q[2]); }));
  }
  return answers;
}

// Queries until no query changes anything any more: each can give up waiting
// for some steps of a worker that died.
void Settle(Trial& trial) {
  std::string token;
  do {
    token = trial.last_index_token();
    trial.Steps();
  } while (trial.last_index_token() != token);
}

}  // namespace

TrialOptions OptionsOf(const json& questions) {
  TrialOptions options;
  options.wait_for_run = questions.value("wait_for_run", false);
  options.end_delay = std::chrono::milliseconds(0);
  options.missing_file_retries = 0;
  options.incomplete_window =
      questions.value("window", options.incomplete_window);
  if (questions.contains("begin_step")) {
    options.begin_step = questions["begin_step"];
  }
  if (questions.contains("end_step")) options.end_step = questions["end_step"];
  return options;
}

json DocumentOf(Trial& trial, const json& questions) {
  Settle(trial);
  json document = {{"workers", trial.Workers()},
                   {"num_workers", trial.num_workers()},
                   {"loaded_all_steps", trial.loaded_all_steps()},
                   {"last_complete_step", trial.last_complete_step()},
                   {"last_index_token", trial.last_index_token()},
                   {"steps", StepsOf(trial)},
                   {"stamps", StampsOf(trial)},
                   {"modes", json::array()},
                   {"collections", json::object()},
                   {"tensors", json::object()},
                   {"damage", json::array()}};
  for (const Mode mode : trial.Modes()) {
    document["modes"].push_back(ModeName(mode));
  }
  for (const auto& [name, collection] : trial.Collections()) {
    document["collections"][name] = json::parse(ToJson(collection));
  }
  const bool computed = questions.value("computed", false);
  for (const std::string& name : trial.TensorNames()) {
    document["tensors"][name] = TensorOf(trial.tensor(name), computed);
  }
  document["answers"] = AnswersOf(trial, questions);
  for (const Damage& damage : trial.damage()) {
    document["damage"].push_back({damage.file, damage.reason, damage.tensor});
  }
  return document;
}

json ReadRun(const std::string& path, const json& questions) {
  return Answer([&] {
    const auto trial = Trial::Open(path, OptionsOf(questions));
    return DocumentOf(*trial, questions);
  });
}

}  // namespace smdebug::testing
