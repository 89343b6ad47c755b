#include <chrono>
#include <cmath>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "python/src/arriving.h"
#include "python/src/bindings.h"
#include "python/src/callbacks.h"
#include "python/src/config_binding.h"
#include "python/src/convert.h"
#include "python/src/core_call.h"
#include "python/src/gil.h"
#include "python/src/tensor_hook.h"
#include "smdebug/error.h"
#include "smdebug/rule.h"
#include "smdebug/run.h"
#include "smdebug/storage.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

using Released = nb::call_guard<GilRelease>;

void MakeHook(TensorHook* self, const nb::dict& settings,
              const std::string& worker, int64_t workers, bool is_chief,
              nb::tuple types, nb::tuple differs, nb::object describe,
              const std::vector<std::string>& more_workers) {
  std::vector<Worker> all = {
      {.name = worker, .count = workers, .is_chief = is_chief}};
  for (const std::string& name : more_workers) {
    all.push_back({.name = name, .count = workers, .is_chief = false});
  }
  new (self) TensorHook(ConfigFrom(settings), all, std::move(types),
                        std::move(differs), std::move(describe));
}

nb::object CheckOutDir(const nb::dict& settings, const std::string& worker,
                       int64_t workers, bool is_chief) {
  const HookConfig config = ConfigFrom(settings);
  auto place = std::make_unique<std::shared_ptr<void>>();
  {
    const GilRelease released;
    *place = Hook::CheckOutDir(
        config, Worker{.name = worker, .count = workers, .is_chief = is_chief});
  }
  return nb::capsule(place.release(), [](void* kept) noexcept {
    delete static_cast<std::shared_ptr<void>*>(kept);
  });
}

void Close(TensorHook& hook, std::string_view ending, std::string_view reason) {
  { const auto settled = hook.Settle(); }  // The rest may wait for the device.
  const GilRelease released;
  for (const Ending one :
       {Ending::kFinished, Ending::kFailed, Ending::kInterrupted}) {
    if (ending == EndingName(one)) return hook.core().Close(one, reason);
  }
  throw ConfigError("ending", ending, "finished, failed or interrupted");
}

bool Flush(TensorHook& hook, std::optional<double> seconds) {
  using std::chrono::milliseconds;
  { const auto settled = hook.Settle(); }
  const GilRelease released;
  constexpr double kMost = 1e12;  // For ever, in seconds.
  if (!seconds || *seconds > kMost) return hook.core().Flush();
  return hook.core().Flush(
      milliseconds(static_cast<int64_t>(std::ceil(*seconds * 1000))));
}

void BindRun(nb::module_& m) {
  m.def("check_out_dir", &CheckOutDir, "settings"_a, "worker"_a, "workers"_a,
        "is_chief"_a,
        "Raises what making such a Hook would raise about its out_dir. While\n"
        "what it returns is kept, other jobs are refused.");
  m.def(
      "has_run_ended",
      [](const std::string& run) { return HasRunEnded(*OpenStorage(run)); },
      "run"_a, Released(), "Whether the run has its end marker.");
  m.def(
      "mark_run_ended",
      [](const std::string& run) { MarkRunEnded(*OpenStorage(run)); }, "run"_a,
      Released(), "Marks a run as finished.");
  m.def(
      "run_info",
      [](const std::string& run) {
        RunInfo info;
        {
          const GilRelease released;
          info = LookAtRun(*OpenStorage(run));
        }
        return nb::make_tuple(info.id, std::string(RunStateName(info.state)),
                              info.reason);
      },
      "run"_a, "The id of a run, how it is, and why.");
}

nb::dict ToDict(const HookStats& stats) {
  nb::dict numbers;
  HookStats::ForEach(
      [&](const char* name, auto count) { numbers[name] = stats.*count; });
  numbers["tensors_saved"] = stats.values_saved;  // Its old name.
  return numbers;
}

std::optional<std::string> CollectionJson(TensorHook& hook,
                                          std::string_view name) {
  const auto collection = hook.core().GetCollection(name);
  return collection ? std::optional(ToJson(*collection)) : std::nullopt;
}

// A copy of a callback is a function that does nothing: a copied or pickled
// model is not the one that is watched.
nb::object Detached(nb::handle /*self*/) {
  return nb::module_::import_("smdebug._hook.detached").attr("reduce")();
}

void BindCallbacks(nb::module_& m) {
  nb::class_<ForwardCallback>(m, "ForwardCallback")
      .def(nb::init<nb::object, std::string, std::string, std::string,
                    nb::object>(),
           "hook"_a, "name"_a, "input_prefix"_a, "output_prefix"_a,
           "recomputing"_a.none())
      // (module, args, output) or (module, args, kwargs, output).
      .def("__call__",
           [](ForwardCallback& callback, const nb::args& called) {
             if (called.size() == 3) {
               callback(called[1], nb::handle(), called[2]);
             } else if (called.size() == 4) {
               callback(called[1], called[2], called[3]);
             } else {
               throw nb::type_error("3 or 4 arguments are needed");
             }
           })
      .def("__reduce__", &Detached);
  nb::class_<GradientCallback>(m, "GradientCallback")
      .def(nb::init<nb::object, std::string>(), "hook"_a, "name"_a)
      .def(
          "__call__",
          [](GradientCallback& callback, nb::handle gradient) {
            callback(gradient);
          },
          "gradient"_a)
      .def("__reduce__", &Detached)
      // torch.save() leaves such callbacks of a tensor out without a warning.
      .def_prop_ro("__torch_unserializable__",
                   [](nb::handle /*self*/) { return true; });
}

}  // namespace

void InitHook(nb::module_& m) {
  nb::class_<TensorNames>(m, "TensorNames")
      .def(nb::init<const std::vector<std::string>&>(), "names"_a);
  nb::class_<TensorHook> hook_class(m, "Hook", nb::is_weak_referenceable());
  hook_class
      .def("__init__", &MakeHook, "settings"_a, "worker"_a, "workers"_a,
           "is_chief"_a, "tensor_types"_a, "differs"_a, "describe"_a,
           "more_workers"_a = nb::make_tuple(),
           "`more_workers` are those that this process is besides `worker`.")
      .def(
          "configure",
          [](TensorHook& hook, const nb::dict& settings) {
            hook.core().Configure(ConfigFrom(settings));
          },
          "settings"_a, "What is saved, until the first step.")
      .def(
          "add_hints",
          [](TensorHook& hook, const std::vector<std::string>& hints) {
            hook.core().AddHints(hints);
          },
          "hints"_a,
          "Names that messages about what takes nothing may point to.")
      .def("begin_step", &TensorHook::BeginStep, "number"_a = nb::none())
      .def("begin_idle_step",
           [](TensorHook& hook) { return hook.BeginIdleStep(); })
      .def("end_step",
           [](TensorHook& hook) {
             const auto settled = hook.Settle();
             CallCore([&] { hook.core().EndStep(); });
           })
      .def("flush", &Flush, "timeout"_a = nb::none())
      .def(
          "set_mode",
          [](TensorHook& hook, int mode) {
            const auto settled = hook.Settle();
            const GilRelease released;
            hook.core().SetMode(ModeFrom(mode));
          },
          "mode"_a)
      .def(
          "save",
          [](TensorHook& hook, std::string_view name, nb::handle tensor,
             std::string_view original_name, std::optional<size_t> worker) {
            hook.Save(name, tensor,
                      {.original_name = original_name, .worker = worker});
          },
          "name"_a, "tensor"_a.none(), "original_name"_a = "",
          "worker"_a = nb::none(),
          "Saves a tensor for each worker of the hook, or for one, counted "
          "from "
          "0.")
      .def("set_unscale", &TensorHook::SetUnscale, "unscale"_a,
           "Has gradients saved as `unscale` gives them, or left out for the\n"
           "reason that it gives.")
      .def("save_many", &TensorHook::SaveMany, "names"_a, "tensors"_a)
      .def("save_as", &TensorHook::SaveAs, "names"_a, "tensor"_a)
      .def("save_items", &TensorHook::SaveItems, "names"_a, "tensor"_a)
      .def("save_numbers", &TensorHook::SaveNumbers, "names"_a, "numbers"_a)
      .def("save_importance", &TensorHook::SaveImportance, "importance"_a,
           "booster"_a)
      .def("save_tensor", &TensorHook::SaveTensor, "name"_a, "tensor"_a.none(),
           "collections"_a, "next_step"_a = false)
      .def(
          "save_scalar",
          [](TensorHook& hook, std::string_view name, double value,
             std::optional<double> timestamp, std::optional<int64_t> step,
             bool sm_metric, std::optional<size_t> worker) {
            hook.core().SaveScalar(name, value,
                                   {.timestamp = timestamp,
                                    .step = step,
                                    .sm_metric = sm_metric,
                                    .worker = worker});
          },
          "name"_a, "value"_a, "timestamp"_a.none(), "step"_a = nb::none(),
          "sm_metric"_a = false, "worker"_a = nb::none(), Released())
      .def(
          "skip",
          [](TensorHook& hook, std::string_view name, std::string_view reason) {
            hook.core().Skip(name, reason);
          },
          "name"_a, "reason"_a, Released())
      .def(
          "leave_out",
          [](TensorHook& hook, std::string_view name, std::string_view reason) {
            return hook.core().LeaveOut(name, reason);
          },
          "name"_a, "reason"_a, nb::call_guard<CoreCall>(),
          "Counts what the caller failed in, unless it is to raise it: if so, "
          "True.")
      .def("are_due", &TensorHook::AreDue, "names"_a)
      .def("prefixes_are_due", &TensorHook::PrefixesAreDue, "prefixes"_a,
           "For each whether some tensor \"<prefix><number>\" is due.")
      .def_prop_ro("due_key",
                   [](TensorHook& hook) { return hook.core().due_key(); })
      .def_prop_ro("step_is_due",
                   [](TensorHook& hook) { return hook.core().StepIsDue(); })
      .def_prop_ro("step", [](TensorHook& hook) { return hook.core().step(); })
      .def(
          "mode_step",
          [](TensorHook& hook, int mode) {
            return hook.core().mode_step(ModeFrom(mode));
          },
          "mode"_a)
      .def("collection", &CollectionJson, "name"_a)
      .def_prop_ro("stats",
                   [](TensorHook& hook) { return ToDict(hook.core().stats()); })
      .def("close", &Close, "ending"_a = "finished", "reason"_a = "")
      .def_prop_ro("workers",
                   [](TensorHook& hook) { return hook.core().workers(); })
      .def_prop_ro("run_id",
                   [](TensorHook& hook) { return hook.core().run_id(); })
      .def("abandon", [](TensorHook& hook) {
        { const auto settled = hook.Settle(); }
        const GilRelease released;
        hook.core().Abandon();
      });
  BindArriving(m, hook_class);
  // Scalars that say what a scaler of losses did.
  m.attr("GRAD_SCALE") = std::string(kGradScale);
  m.attr("STEP_SKIPPED") = std::string(kStepSkipped);
  m.def(
      "no_stats", [] { return ToDict({}); },
      "The stats of a hook that has done nothing.");
  BindCallbacks(m);
  BindRun(m);
}

}  // namespace smdebug::python
