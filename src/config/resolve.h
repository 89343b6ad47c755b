#pragma once

#include <vector>

#include "smdebug/config.h"
#include "src/config/parameters.h"

// How parameters of hook and collection come together
// (docs/reference/config.md, "Merging").
namespace smdebug::config {

// Whether any key of a schedule was given.
bool HasSchedule(const Parameters& parameters);

// The schedule of every mode: the framework's default, overlaid in turn by each
// of `layers`, the keys of one mode coming after those of every mode.
SaveConfig ResolveSchedule(Framework framework,
                           const std::vector<const Parameters*>& layers);

// Whether anything was given that ResolveForm() looks at.
bool HasForm(const Parameters& parameters);

// What is saved of a tensor. `reductions` start a form of their own, which
// saves only them (the raw tensor if the list is empty); otherwise `inherited`
// is the start. save_raw_tensor and save_shape then change their part.
ReductionConfig ResolveForm(const ReductionConfig& inherited,
                            const Parameters& parameters);

}  // namespace smdebug::config
