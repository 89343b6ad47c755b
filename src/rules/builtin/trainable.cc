#include "src/rules/builtin/trainable.h"

#include <cmath>

namespace smdebug::rules {
namespace {

// Mean magnitude below which a gradient changes nothing.
constexpr double kLeastGradient = 1e-7;
// Part of its largest one below which a gradient has converged.
constexpr double kConvergedPart = 0.01;

}  // namespace

void Trainable::Look(StepView& view) {
  any_changes_now_ = false;
  const auto names = view.Select({.collections = {"gradients"}});
  if (names.empty()) return;
  for (auto& [name, gradient] : gradients_) gradient.is_saved = false;
  for (const std::string& name : names) {
    const auto mean = view.Reduce(name, {ReductionOp::kMean, /*abs=*/true});
    if (!mean) continue;
    Gradient& gradient = gradients_[name];
    gradient.now = *mean;
    gradient.peak = std::fmax(gradient.peak, *mean);
    gradient.is_saved = true;
  }
}

void Trainable::NoteChange(std::string_view weight, bool changed) {
  if (!changed) return;
  any_changes_now_ = true;
  changed_.emplace(weight);
}

const Trainable::Gradient* Trainable::GradientOf(
    std::string_view weight) const {
  // PyTorch, MXNet and native programs.
  auto it = gradients_.find("gradient/" + std::string(weight));
  if (it == gradients_.end()) {
    // Keras: weights/dense/kernel:0 has gradients/dense/kernelGrad.
    constexpr std::string_view kFolder = "weights/";
    const size_t folder = weight.find(kFolder);
    if (folder == std::string_view::npos) return nullptr;
    const auto variable = weight.substr(folder + kFolder.size());
    it = gradients_.find("gradients/" +
                         std::string(variable.substr(0, variable.find(':'))) +
                         "Grad");
  }
  return it == gradients_.end() || !it->second.is_saved ? nullptr : &it->second;
}

bool Trainable::IsFrozen(std::string_view weight) const {
  return !gradients_.empty() && GradientOf(weight) == nullptr;
}

bool Trainable::OughtToChange(std::string_view weight) const {
  if (!gradients_.empty()) {
    const Gradient* gradient = GradientOf(weight);
    return gradient != nullptr && gradient->now > kLeastGradient &&
           gradient->now >= kConvergedPart * gradient->peak;
  }
  if (changed_.empty()) return true;
  return any_changes_now_ && changed_.contains(weight);
}

}  // namespace smdebug::rules
