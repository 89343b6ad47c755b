#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "smdebug/mode.h"
#include "smdebug/reduction.h"
#include "smdebug/tensor.h"
#include "smdebug/trial.h"

// Between values of the core and Python objects.
namespace smdebug::python {

// Declares the class whose objects keep the memory of arrays alive.
void InitConvert(nanobind::module_& m);

// A mode by its number, 1 to 4, as smdebug.core.modes.ModeKeys has them.
Mode ModeFrom(int number);

// "mean", or "abs_mean"; `abs` makes it that of the absolute values. Throws
// ConfigError for a name that is none.
Reduction ReductionFrom(const std::string& name, bool abs = false);

// A read-only NumPy array over the value's memory, which it keeps alive. Types
// that NumPy lacks come from ml_dtypes, or as float32 where that is missing.
nanobind::object ArrayFrom(const Value& value);

nanobind::tuple TupleFrom(std::span<const int64_t> numbers);

}  // namespace smdebug::python
