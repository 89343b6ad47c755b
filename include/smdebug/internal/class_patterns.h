#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"

namespace smdebug::config {

// A part of a model, by the name that its inputs and outputs have.
struct NamedModule {
  std::string name;
  std::string class_name;
};

// `regex`, widened so that it takes the inputs and outputs of those `modules`,
// too, that it would take if they were called by their class: "ReLU" takes
// "3_output_0" if 3 is a ReLU. Left as it is if there are none, and if it takes
// one of `names` or of the modules by its own name: then it means names. Throws
// ConfigError for a regex that does not compile.
std::string WithClasses(std::string_view regex,
                        std::span<const NamedModule> modules,
                        std::span<const std::string> names);

// Widens what `config` includes by WithClasses(): include_regex, and the
// patterns of collections, but for those that the built-in collection of the
// same name has. What does not compile stays: Validate() refuses it.
void TakeClasses(std::span<const NamedModule> modules,
                 std::span<const std::string> names, HookConfig& config);

// The regex that takes all inputs, or all outputs, of these modules alone.
std::string ModulePattern(std::span<const std::string> modules, bool inputs,
                          bool outputs);

}  // namespace smdebug::config
