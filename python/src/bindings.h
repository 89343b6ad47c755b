#pragma once

#include <nanobind/nanobind.h>

namespace smdebug::python {

void InitErrors(nanobind::module_& m);
void InitLog(nanobind::module_& m);
void InitConfig(nanobind::module_& m);
void InitTrial(nanobind::module_& m);
void InitHook(nanobind::module_& m);

}  // namespace smdebug::python
