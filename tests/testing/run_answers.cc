#include "tests/testing/run_answers.h"

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/mode.h"
#include "tests/testing/hex.h"

namespace smdebug::testing {
namespace {

using nlohmann::json;

template <typename Leaf>
bool Is(const Error& error) {
  return dynamic_cast<const Leaf*>(&error) != nullptr;
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

}  // namespace

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

}  // namespace smdebug::testing
