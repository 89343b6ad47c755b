#include "python/src/trial_binding.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/convert.h"
#include "python/src/core_call.h"
#include "python/src/gil.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

using InCore = nb::call_guard<CoreCall>;

std::atomic<uint64_t> forks{0};

// Ctrl-C ends a wait, and messages about it do not wait for its end.
void WhileWaiting() {
  const GilAcquire acquired;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  RelayLog();
}

std::unique_ptr<OwnTrial> OpenTrial(const std::string& path,
                                    const std::string& name,
                                    std::optional<int64_t> begin,
                                    std::optional<int64_t> end, bool wait) {
  TrialOptions options = TrialOptions::FromEnvironment();
  options.name = name;
  options.begin_step = begin;
  options.end_step = end;
  options.wait_for_run = wait;
  options.while_waiting = WhileWaiting;
  return std::make_unique<OwnTrial>(Trial::Open(path, options));
}

std::vector<std::string> TensorNames(const OwnTrial& trial,
                                     std::optional<int64_t> step, int mode,
                                     std::vector<std::string> regexes,
                                     std::optional<std::string> collection) {
  return trial->TensorNames({.step = step,
                             .mode = ModeFrom(mode),
                             .regexes = std::move(regexes),
                             .collection = std::move(collection)});
}

std::vector<int> Modes(const OwnTrial& trial) {
  std::vector<int> numbers;
  for (const Mode mode : trial->Modes()) {
    numbers.push_back(static_cast<int>(mode));
  }
  return numbers;
}

std::optional<int> ModeOf(const OwnTrial& trial, int64_t global_step) {
  const std::optional<Mode> mode = trial->ModeOf(global_step);
  return mode ? std::optional(static_cast<int>(*mode)) : std::nullopt;
}

std::map<std::string, std::string> Collections(const OwnTrial& trial) {
  std::map<std::string, std::string> json;
  for (const auto& [name, collection] : trial->Collections()) {
    json.emplace(name, ToJson(collection));
  }
  return json;
}

std::optional<std::string> CollectionOf(const OwnTrial& trial,
                                        const std::string& name) {
  const auto collection = trial->FindCollection(name);
  return collection ? std::optional(ToJson(*collection)) : std::nullopt;
}

template <std::vector<Value> (Trial::*kGet)(int64_t, Mode)>
nb::list ValuesAt(const OwnTrial& trial, int64_t step, int mode) {
  nb::list arrays;
  for (const Value& value :
       CallCore([&] { return ((*trial).*kGet)(step, ModeFrom(mode)); })) {
    arrays.append(ArrayFrom(value));
  }
  return arrays;
}

std::vector<std::tuple<std::string, std::string, std::string>> DamageOf(
    const OwnTrial& trial) {
  std::vector<std::tuple<std::string, std::string, std::string>> all;
  for (const Damage& damage : trial->damage()) {
    all.emplace_back(damage.file, damage.reason, damage.tensor);
  }
  return all;
}

void BindState(nb::class_<OwnTrial>& type) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  type.def_prop_ro("is_copy", &OwnTrial::is_copy)
      .def_prop_ro("name", [](const OwnTrial& t) { return t->name(); })
      .def_prop_ro("path", [](const OwnTrial& t) { return t->path(); })
      .def_prop_ro("run_id", [](const OwnTrial& t) { return t->run_id(); })
      .def_prop_ro(
          "num_workers", [](const OwnTrial& t) { return t->num_workers(); },
          InCore())
      .def_prop_ro(
          "loaded_all_steps",
          [](const OwnTrial& t) { return t->loaded_all_steps(); }, InCore())
      .def_prop_ro(
          "last_complete_step",
          [](const OwnTrial& t) { return t->last_complete_step(); }, InCore())
      .def_prop_ro(
          "last_index_token",
          [](const OwnTrial& t) { return t->last_index_token(); }, InCore())
      .def("damage", &DamageOf, InCore())
      .def(
          "refresh", [](const OwnTrial& t) { t->Refresh(); }, InCore())
      .def(
          "set_refreshing",
          [](const OwnTrial& t, bool on) { t->SetRefreshing(on); }, "on"_a,
          InCore())
      .def(
          "set_end_delay",
          [](const OwnTrial& t, double seconds) {
            t->SetEndDelay(std::chrono::ceil<std::chrono::milliseconds>(
                Milliseconds(seconds * 1000)));
          },
          "seconds"_a, InCore());
}

void BindQueries(nb::class_<OwnTrial>& type) {
  type.def("tensor_names", &TensorNames, "step"_a.none(), "mode"_a, "regexes"_a,
           "collection"_a.none(), InCore())
      .def(
          "has_tensor",
          [](const OwnTrial& t, const std::string& name) {
            return t->HasTensor(name);
          },
          "name"_a, InCore())
      .def(
          "tensor",
          [](const OwnTrial& t, const std::string& name) {
            return t->tensor(name);
          },
          "name"_a, nb::keep_alive<0, 1>(), InCore())
      .def(
          "steps",
          [](const OwnTrial& t, int mode, bool incomplete) {
            return t->Steps(ModeFrom(mode), incomplete);
          },
          "mode"_a, "incomplete"_a, InCore())
      .def("modes", &Modes, InCore())
      .def("mode", &ModeOf, "global_step"_a, InCore())
      .def(
          "mode_step",
          [](const OwnTrial& t, int64_t step) { return t->ModeStep(step); },
          "global_step"_a, InCore())
      .def(
          "global_step",
          [](const OwnTrial& t, int mode, int64_t step) {
            return t->GlobalStep(ModeFrom(mode), step);
          },
          "mode"_a, "mode_step"_a, InCore())
      .def(
          "workers", [](const OwnTrial& t) { return t->Workers(); }, InCore())
      .def("collections", &Collections, InCore(),
           "The JSON of each collection, by name.")
      .def("collection", &CollectionOf, "name"_a, InCore())
      .def(
          "has_passed_step",
          [](const OwnTrial& t, int64_t step, int mode) {
            return static_cast<int>(t->HasPassedStep(step, ModeFrom(mode)));
          },
          "step"_a, "mode"_a, InCore())
      .def(
          "wait_for_steps",
          [](const OwnTrial& t, const std::vector<int64_t>& steps, int mode) {
            t->WaitForSteps(steps, ModeFrom(mode));
          },
          "steps"_a, "mode"_a, InCore())
      .def(
          "has_scalars_at",
          [](const OwnTrial& t, int64_t step) { return t->HasScalarsAt(step); },
          "step"_a, InCore(),
          "Whether scalars were saved at a step, perhaps between whole steps.")
      .def("inputs", &ValuesAt<&Trial::Inputs>, "step"_a, "mode"_a)
      .def("labels", &ValuesAt<&Trial::Labels>, "step"_a, "mode"_a)
      .def("predictions", &ValuesAt<&Trial::Predictions>, "step"_a, "mode"_a);
}

}  // namespace

uint64_t ForkCount() noexcept { return forks.load(std::memory_order_relaxed); }

void InitTrial(nb::module_& m) {
  pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
  nb::class_<OwnTrial> type(m, "Trial");
  type.def(nb::new_(&OpenTrial), "path"_a, "name"_a, "begin"_a.none(),
           "end"_a.none(), "wait"_a, InCore());
  BindState(type);
  BindQueries(type);
}

}  // namespace smdebug::python
