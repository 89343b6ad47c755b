#pragma once

#include <map>
#include <optional>
#include <string>
#include <typeinfo>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "src/base/bytes.h"

namespace smdebug::testing {

// What a trial says about a run of mode TRAIN or none, by question: values,
// shapes, counts and two reductions. What it refuses to say is left out.
using Observation = std::map<std::string, std::string>;

// The text of `value`: type, shape and bytes.
inline std::string TextOf(const Value& value) {
  std::string text =
      fmt::format("{}[{}]:", DTypeName(value.dtype()),
                  fmt::join(value.shape().begin(), value.shape().end(), ","));
  text += base::AsText(value.bytes());
  for (const std::string_view string : value.strings()) {
    text += fmt::format("{}:{};", string.size(), string);
  }
  return text;
}

inline Observation Observe(Trial& trial) {
  Observation seen;
  const auto ask = [&](const std::string& question, auto answer) {
    try {
      seen[question] = answer();
    } catch (const Error&) {
    }
  };
  for (const std::string& name : trial.TensorNames()) {
    const Tensor tensor = trial.tensor(name);
    for (const Mode mode : {Mode::kTrain, Mode::kGlobal}) {
      for (const int64_t step : tensor.Steps(mode, true)) {
        for (const std::string& worker : tensor.Workers(step, mode)) {
          const std::string at =
              fmt::format("{} {} {} {} ", name, ModeName(mode), step, worker);
          ask(at + "value",
              [&] { return TextOf(tensor.At(step, mode, worker)); });
          ask(at + "shape", [&] {
            return fmt::format(
                "{}", fmt::join(tensor.Shape(step, mode, worker), ","));
          });
          ask(at + "counts", [&] {
            const auto counts = tensor.Counts(step, mode, worker);
            if (!counts) return std::string();
            return fmt::format("{} {} {} {} {} {}", DTypeName(counts->dtype),
                               counts->count, counts->nan, counts->pos_inf,
                               counts->neg_inf, counts->zero);
          });
          for (const Reduction reduction :
               {Reduction{ReductionOp::kMin},
                Reduction{ReductionOp::kL2, true}}) {
            ask(at + ReductionName(reduction), [&] {
              return fmt::format(
                  "{}", tensor.ReductionValue(step, reduction, mode, worker));
            });
          }
        }
      }
    }
  }
  return seen;
}

}  // namespace smdebug::testing
