#pragma once

#include <nanobind/nanobind.h>

namespace smdebug::python {

void InitErrors(nanobind::module_& m);
void InitLog(nanobind::module_& m);
void InitConfig(nanobind::module_& m);
void InitTensor(nanobind::module_& m);
void InitTrial(nanobind::module_& m);
void InitHook(nanobind::module_& m);
void InitAction(nanobind::module_& m);
void InitGuard(nanobind::module_& m);
void InitQuery(nanobind::module_& m);
void InitRule(nanobind::module_& m);
void InitSeenModule(nanobind::module_& m);
void InitTermination(nanobind::module_& m);
void InitXgboost(nanobind::module_& m);

// Gives what the core has logged to Python's logger. Needs the GIL.
void RelayLog() noexcept;

}  // namespace smdebug::python
