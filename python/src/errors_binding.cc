#include <exception>

#include <fmt/format.h>

#include "python/src/bindings.h"
#include "smdebug/error.h"
#include "smdebug/guard.h"

namespace nb = nanobind;

namespace smdebug::python {
namespace {

// `name` of smdebug.exceptions with the fields as its arguments.
template <typename... Args>
nb::object Make(const char* name, Args&&... args) {
  return nb::module_::import_("smdebug.exceptions")
      .attr(name)(std::forward<Args>(args)...);
}

void Raise(const nb::object& error) {
  PyErr_SetObject(error.type().ptr(), error.ptr());
}

template <typename... Args>
void Raise(const char* name, Args&&... args) {
  Raise(Make(name, std::forward<Args>(args)...));
}

nb::object KeyOf(Mode mode) {
  return nb::module_::import_("smdebug.core.modes")
      .attr("ModeKeys")(static_cast<int>(mode));
}

nb::str Text(const std::string& text) {
  return nb::str(text.data(), text.size());
}

// Every leaf of the core's errors and what Python raises for it.
void Translate(const std::exception_ptr& pointer, void* /*payload*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const StepNotYetAvailable& e) {
    Raise("StepNotYetAvailable", e.step(), KeyOf(e.mode()));
  } catch (const StepUnavailable& e) {
    Raise("StepUnavailable", e.step(), KeyOf(e.mode()));
  } catch (const TensorUnavailableForStep& e) {
    Raise("TensorUnavailableForStep", Text(e.tensor()), e.step(),
          KeyOf(e.mode()), e.has_reductions(), Text(e.hint()),
          Text(e.missing_file()));
  } catch (const ShapeUnavailableForStep& e) {
    Raise("ShapeUnavailableForStep", Text(e.tensor()), e.step(),
          KeyOf(e.mode()));
  } catch (const TensorUnavailable& e) {
    Raise("TensorUnavailable", Text(e.tensor()), Text(e.hint()));
  } catch (const InvalidWorker& e) {
    Raise("InvalidWorker", Text(e.worker()));
  } catch (const NoMoreData& e) {
    Raise("NoMoreData", e.step(), KeyOf(e.mode()), e.last_step());
  } catch (const MissingCollectionFiles&) {
    Raise("MissingCollectionFiles");
  } catch (const InvalidCollectionConfiguration& e) {
    Raise("InvalidCollectionConfiguration", Text(e.collection()),
          Text(e.hint()));
  } catch (const InsufficientInformation& e) {
    Raise("InsufficientInformationForRuleInvocation", Text(e.rule()),
          Text(e.message()));
  } catch (const RuleFired& e) {
    Raise("RuleEvaluationConditionMet", Text(e.rule()), e.step());
  } catch (const ConfigError& e) {
    Raise("SMDebugValueError", e.what());
  } catch (const ConfigFileError& e) {
    Raise("SMDebugValueError", e.what());
  } catch (const FormatError& e) {
    const bool in_index = e.kind() == DamageKind::kBadIndex;
    nb::object error = Make(
        in_index ? "IndexReaderException" : "SMDebugRuntimeError", e.what());
    error.attr("file") = Text(e.file());
    error.attr("reason") = Text(std::string(e.reason()));
    error.attr("kind") = Text(std::string(DamageKindName(e.kind())));
    Raise(error);
  } catch (const Error& e) {
    Raise("SMDebugRuntimeError", e.what());
  }
}

}  // namespace

void InitErrors(nb::module_& /*m*/) {
  nb::register_exception_translator(Translate);
}

}  // namespace smdebug::python
