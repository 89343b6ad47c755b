#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <torch/torch.h>

namespace smdebug::internal {

// Hands the gradient of a parameter to its owner in every backward pass, for as
// long as it stands among the parameter's callbacks.
//
// Tensor::register_hook() would do, but what it adds can be emptied, not taken
// off: the list would grow with every saved step, and be gone through in every
// other one.
class GradientCallback final : public torch::autograd::FunctionPreHook {
 public:
  using Receive = std::function<void(const torch::Tensor& gradient)>;

  GradientCallback(const void* owner, Receive receive)
      : owner_(owner), receive_(std::move(receive)) {}

  torch::autograd::variable_list operator()(
      const torch::autograd::variable_list& gradients) override {
    receive_(gradients.at(0));
    return gradients;
  }

  // Puts one on a leaf that requires a gradient, unless `owner` has one there.
  static void Add(const torch::Tensor& parameter, const void* owner,
                  Receive receive) {
    auto& callbacks =
        torch::autograd::impl::get_autograd_meta(parameter)->hooks_;
    for (const auto& callback : callbacks) {
      if (IsOf(owner, callback.get())) return;
    }
    callbacks.push_back(
        std::make_unique<GradientCallback>(owner, std::move(receive)));
  }

  // Takes that of `owner` off, if there is one.
  static void Remove(const torch::Tensor& parameter, const void* owner) {
    auto* meta = torch::autograd::impl::get_autograd_meta(parameter);
    if (meta == nullptr) return;
    std::erase_if(meta->hooks_, [owner](const auto& callback) {
      return IsOf(owner, callback.get());
    });
  }

 private:
  static bool IsOf(const void* owner,
                   const torch::autograd::FunctionPreHook* callback) {
    const auto* ours = dynamic_cast<const GradientCallback*>(callback);
    return ours != nullptr && ours->owner_ == owner;
  }

  const void* const owner_;
  const Receive receive_;
};

}  // namespace smdebug::internal
