#pragma once

#include <string>

namespace smdebug::rules {

// The layer that a weight, a bias or their gradients belong to: what the name
// says before ".weight", "_bias" or "/kernelGrad".
inline std::string LayerOf(const std::string& name) {
  return name.substr(0, name.find_last_of("./_"));
}

}  // namespace smdebug::rules
