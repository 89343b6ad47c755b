#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smdebug {

// The phase of a job that a step belongs to. The numbers are those of the
// event files and of smdebug 1.0's ModeKeys.
enum class Mode : uint8_t { kTrain = 1, kEval = 2, kPredict = 3, kGlobal = 4 };

inline constexpr std::array<Mode, 4> kModes = {Mode::kTrain, Mode::kEval,
                                               Mode::kPredict, Mode::kGlobal};

// Position of `mode` in kModes, for arrays indexed by mode.
constexpr size_t ModeIndex(Mode mode) { return static_cast<size_t>(mode) - 1; }

// "TRAIN", "EVAL", "PREDICT" or "GLOBAL".
constexpr std::string_view ModeName(Mode mode) {
  constexpr std::array<std::string_view, 4> kNames = {"TRAIN", "EVAL",
                                                      "PREDICT", "GLOBAL"};
  return kNames[ModeIndex(mode)];
}

// The inverse of ModeName, in any letter case; nullopt for any other text.
std::optional<Mode> ParseMode(std::string_view name);

}  // namespace smdebug
