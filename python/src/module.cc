// smdebug._core: the C++ core for Python. Each Init function is in the binding
// of its concept; a binding converts, releases the GIL and calls the core.

#include "python/src/bindings.h"
#include "smdebug/version.h"

NB_MODULE(_core, m) {
  using namespace smdebug::python;  // NOLINT(google-build-using-namespace)
  // Programs end with objects alive, in daemon threads at the latest.
  nanobind::set_leak_warnings(false);
  m.def(
      "warn_of_leaks", [] { nanobind::set_leak_warnings(true); },
      "When the process ends, of objects that are still alive. For tests.");
  m.def(
      "version", [] { return smdebug::kVersion; }, "Of the core.");
  InitErrors(m);
  InitLog(m);
  InitConfig(m);
  InitTensor(m);
  InitTrial(m);
  InitHook(m);
  InitAction(m);
  InitGuard(m);
  InitQuery(m);
  InitRule(m);
  InitSeenModule(m);
  InitTermination(m);
  InitXgboost(m);
}
