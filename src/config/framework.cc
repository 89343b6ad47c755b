#include "src/config/framework.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "src/config/plan.h"

namespace smdebug::config {
namespace {

constexpr std::array<std::string_view, 5> kFrameworkNames = {
    "native", "pytorch", "tensorflow", "mxnet", "xgboost"};

constexpr auto kPythonFrameworks = std::to_array<PythonFramework>({
    {"torch", "1.13"},
    {"xgboost", "1.7"},
    {"tensorflow"},
    {"keras"},
    {"mxnet"},
});

// The numbers that `version` begins with.
std::vector<int> Numbers(std::string_view version) {
  std::vector<int> numbers;
  const char* at = version.data();
  const char* const end = at + version.size();
  while (at < end) {
    int number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    if (stop == end || *stop != '.') break;
    at = stop + 1;
  }
  return numbers;
}

// `text` without every ":<digits>", the marks of graph outputs.
std::string WithoutOutputNumbers(std::string_view text) {
  const auto is_digit = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  };
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == ':') {
      while (end < text.size() && is_digit(text[end])) ++end;
    }
    if (end == at + 1) kept.push_back(text[at]);
    at = end;
  }
  return kept;
}

}  // namespace

std::string_view FrameworkName(Framework framework) noexcept {
  return kFrameworkNames[static_cast<size_t>(framework)];
}

std::vector<std::string> FrameworkNames() {
  return {kFrameworkNames.begin(), kFrameworkNames.end()};
}

std::optional<Framework> ParseFramework(std::string_view name) {
  const auto found = std::ranges::find(kFrameworkNames, name);
  if (found == kFrameworkNames.end()) return std::nullopt;
  return static_cast<Framework>(found - kFrameworkNames.begin());
}

std::span<const PythonFramework> PythonFrameworks() {
  return kPythonFrameworks;
}

bool IsSupported(const PythonFramework& framework, std::string_view version) {
  return !framework.least.empty() &&
         Numbers(version) >= Numbers(framework.least);
}

SaveConfigMode DefaultSchedule(Framework framework) {
  constexpr int64_t kXgboostInterval = 10;
  SaveConfigMode schedule;
  if (framework == Framework::kXgboost) {
    schedule.save_interval = kXgboostInterval;
  }
  return schedule;
}

Spread DefaultSpread(Framework framework) noexcept {
  return framework == Framework::kPyTorch ? Spread::kSample
                                          : Spread::kPopulation;
}

std::string ReductionTensorName(Framework framework, Reduction reduction,
                                std::string_view tensor) {
  std::string name(kReductionPrefix);
  name += ReductionName(reduction) + "/";
  // TensorFlow's names end in an output number that tells tensors apart, and a
  // native program's may too; the others never do.
  const bool keeps_numbers =
      framework == Framework::kTensorFlow || framework == Framework::kNative;
  name += keeps_numbers ? std::string(tensor) : WithoutOutputNumbers(tensor);
  return name;
}

bool IsReservedName(std::string_view name) noexcept {
  return name.find(kReductionPrefix) != std::string_view::npos;
}

}  // namespace smdebug::config
