#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/rule.h"

namespace smdebug::rules {

// A sample whose class cannot be told: NaN, or too large to be one.
inline constexpr int64_t kNoClass = -1;

// One class for each label. Rows of several columns are one-hot, other numbers
// are cut to whole ones.
std::vector<int64_t> LabelClasses(const Value& labels);

// The place of the largest number along the last axis. The first one wins, and
// NaN wins over all, as in numpy.
std::vector<int64_t> LargestOfLastAxis(const Value& scores);

// Whole numbers nearest to the values; a half goes up.
std::vector<int64_t> NearestClasses(const Value& values);

// Scores of one column: class 1 from 0.5 on if all lie in [0, 1], else numbers
// cut to whole ones.
std::vector<int64_t> ThresholdedClasses(const Value& scores);

// Whether the last axis of the tensor holds one score for each of some classes.
bool HasClassAxis(const Value& value);

// What PyTorch's hook saves of a loss over classes: its inputs. They serve
// where nothing of the documented names is saved.
inline constexpr std::string_view kTorchScores =
    "(?:CrossEntropy|NLL)Loss_input_0$";
inline constexpr std::string_view kTorchLabels =
    "(?:CrossEntropy|NLL)Loss_input_1$";

// The first tensor at the step, by name, that a regex matches.
std::optional<std::string> FirstMatch(StepView& view, std::string_view regex);

}  // namespace smdebug::rules
