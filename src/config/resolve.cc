#include "src/config/resolve.h"

#include "src/config/framework.h"

namespace smdebug::config {
namespace {

void Overlay(const ScheduleKeys& keys, SaveConfigMode& schedule) {
  if (keys.save_interval) schedule.save_interval = *keys.save_interval;
  if (keys.start_step) schedule.start_step = *keys.start_step;
  if (keys.end_step) schedule.end_step = *keys.end_step;
  if (keys.save_steps) schedule.save_steps = *keys.save_steps;
}

}  // namespace

bool HasSchedule(const Parameters& parameters) {
  return parameters.every_mode != ScheduleKeys{} ||
         parameters.of_mode != std::array<ScheduleKeys, 4>{};
}

SaveConfig ResolveSchedule(Framework framework,
                           const std::vector<const Parameters*>& layers) {
  SaveConfig config;
  for (const Mode mode : kModes) {
    SaveConfigMode schedule = DefaultSchedule(framework);
    for (const Parameters* layer : layers) {
      Overlay(layer->every_mode, schedule);
      Overlay(layer->of_mode[ModeIndex(mode)], schedule);
    }
    config[mode] = schedule;
  }
  return config;
}

bool HasForm(const Parameters& parameters) {
  return parameters.reductions || parameters.save_raw_tensor ||
         parameters.save_shape;
}

ReductionConfig ResolveForm(const ReductionConfig& inherited,
                            const Parameters& parameters) {
  ReductionConfig form = inherited;
  if (parameters.reductions) {
    form.reductions = *parameters.reductions;
    form.save_raw_tensor = form.reductions.empty();
    form.save_shape = false;
  }
  form.save_raw_tensor =
      parameters.save_raw_tensor.value_or(form.save_raw_tensor);
  form.save_shape = parameters.save_shape.value_or(form.save_shape);
  return form;
}

}  // namespace smdebug::config
