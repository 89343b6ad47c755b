// libtorch_classifier <run>: trains a classifier on made-up data, with a hook
// that saves its weights, gradients and losses.
#include <iostream>
#include <utility>

#include <torch/torch.h>

#include "smdebug/torch.h"

namespace {

class NetImpl : public torch::nn::Module {
 public:
  NetImpl() {
    fc1 = register_module("fc1", torch::nn::Linear(2, 16));
    relu = register_module("relu", torch::nn::ReLU());
    fc2 = register_module("fc2", torch::nn::Linear(16, 3));
  }

  torch::Tensor forward(torch::Tensor x) { return fc2(relu(fc1(x))); }

 private:
  torch::nn::Linear fc1{nullptr};
  smdebug::Watched<torch::nn::ReLU> relu{nullptr};  // Its outputs are saved.
  torch::nn::Linear fc2{nullptr};
};
TORCH_MODULE(Net);

// Points of three clouds, and which cloud each is of.
std::pair<torch::Tensor, torch::Tensor> MakeBatch() {
  const auto classes = torch::randint(3, {64});
  const auto angle = classes * 2.1;
  const auto centre = torch::stack({angle.cos(), angle.sin()}, 1);
  return {centre + 0.3 * torch::randn({64, 2}), classes};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: libtorch_classifier <run>\n";
    return 2;
  }
  torch::manual_seed(1);
  Net net;
  torch::nn::CrossEntropyLoss criterion;
  torch::optim::SGD optimizer(net->parameters(), /*lr=*/0.2);

  smdebug::TorchHook hook(smdebug::HookConfig{
      .out_dir = argv[1],
      .save_config = smdebug::SaveConfig::Every({.save_interval = 20}),
      .include_regex = {"relu_output"},
      .include_collections = {"weights", "gradients"}});
  hook.Register(net);

  for (int step = 0; step < 200; ++step) {
    const bool is_evaluated = step % 10 == 9;
    hook.SetMode(is_evaluated ? smdebug::Mode::kEval : smdebug::Mode::kTrain);
    const auto [x, y] = MakeBatch();
    const auto output = hook.Forward(net, x);
    const auto loss = hook.Loss(criterion, output, y);
    if (is_evaluated) {
      const auto right = output.argmax(1).eq(y).to(torch::kFloat32).mean();
      hook.SaveScalar("accuracy", right.item<double>());
      continue;
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  hook.Close();
  std::cout << "saved " << hook.core().stats().steps_saved
            << " steps; look at them with: smdebug ls " << argv[1] << '\n';
  return 0;
}
