#pragma once

#include <utility>

#include "smdebug/torch.h"

// The network of tests/python/support/libtorch_twin.py.
namespace smdebug::twin {

// A linear layer and an activation, called as models in C++ are written.
class ChildImpl : public torch::nn::Module {
 public:
  ChildImpl() {
    lin = register_module("lin", torch::nn::Linear(4, 6));
    act = register_module("act", torch::nn::Tanh());
  }

  torch::Tensor forward(const torch::Tensor& x) { return act(lin(x)); }

 private:
  Watched<torch::nn::Linear> lin{nullptr};
  Watched<torch::nn::Tanh> act{nullptr};
};
TORCH_MODULE(Child);

class NetImpl : public torch::nn::Module {
 public:
  NetImpl() {
    child = register_module("child", Child());
    norm = register_module("norm", torch::nn::BatchNorm1d(6));
    relu = register_module("relu", torch::nn::ReLU());
    // One after the other, as random numbers are drawn.
    torch::nn::Sequential layers;
    layers->push_back(torch::nn::Linear(6, 6));
    layers->push_back(torch::nn::Sigmoid());
    layers->push_back(
        torch::nn::Linear(torch::nn::LinearOptions(6, 3).bias(false)));
    tail = register_module("tail", layers);
    scale = register_parameter("scale", torch::ones({1}));
    register_parameter("frozen", torch::ones({2}), /*requires_grad=*/false);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = relu(norm(Watch(child)(x)));
    return tail(relu(x * scale));
  }

 private:
  Child child{nullptr};
  Watched<torch::nn::BatchNorm1d> norm{nullptr};
  Watched<torch::nn::ReLU> relu{nullptr};
  Watched<torch::nn::Sequential> tail{nullptr};
  torch::Tensor scale;
};
TORCH_MODULE(Net);

// Eight rows that are the same everywhere, and their classes.
inline std::pair<torch::Tensor, torch::Tensor> Batch(int64_t number) {
  const auto numbers =
      torch::arange(32, torch::kFloat64).add(static_cast<double>(32 * number));
  return {
      numbers.mul(0.7).remainder(2.0).sub(1.0).to(torch::kFloat32).view({8, 4}),
      torch::arange(8).add(number).remainder(3)};
}

}  // namespace smdebug::twin
