#pragma once

#include <nlohmann/json.hpp>

#include "smdebug/trial.h"

// A run as one JSON document: everything that a trial tells about it. Two
// readers agree on a run if their documents are equal. Built on the public API
// alone. tests/python/compat/document.py makes the same document with smdebug
// 1.0.
namespace smdebug::testing {

// How `questions` wants the run to be opened: "begin_step", "end_step",
// "window", "wait_for_run" (false). Nothing is waited for at the end of a job.
TrialOptions OptionsOf(const nlohmann::json& questions);

// The document of a run:
//
//   collections          name -> definition, as in the collections file
//   workers, num_workers, modes, loaded_all_steps, last_complete_step,
//   last_index_token, damage
//   steps                mode -> {"complete": [...], "all": [...]}; GLOBAL, and
//                        modes that have steps
//   stamps               [step, mode, mode step] of each known step
//   tensors              name -> {"original_name", "steps" as above, "at"}
//
// where "at" is mode -> step -> worker -> {"value", "shape", "reductions"},
// with "counts" where the run has them. Bytes are hexadecimal; numbers that
// JSON has no word for are "nan", "inf" and "-inf"; what was thrown is
// {"error": class}.
//
// `questions` are answered in the order asked. Each may be missing:
//
//   computed   true: GLOBAL "at" has every reduction by ReductionValue() too
//   passed     [mode, step]: state, global step; of GLOBAL mode and mode step
//   lookups    {tensor, mode, step, worker}: value, shape and workers
//   names      {step, mode, regex, collection}: tensor names
//   waits      [mode, [step, ...]]: "ready", or what was thrown
//   previous   [tensor, mode, step, count]
//   model      ["inputs" | "labels" | "predictions", mode, step]: values
nlohmann::json DocumentOf(Trial& trial, const nlohmann::json& questions);

// Opens the run at `path` and describes it; {"error": class} if it does not
// open.
nlohmann::json ReadRun(const std::string& path,
                       const nlohmann::json& questions);

}  // namespace smdebug::testing
