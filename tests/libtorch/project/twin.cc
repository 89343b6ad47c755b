// twin <run> <config>: trains the twin of the network in libtorch_twin.py.
#include <cstdint>
#include <iostream>

#include "net.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: twin <run> <config>\n";
    return 2;
  }
  using smdebug::Mode;
  torch::set_num_threads(1);
  torch::manual_seed(7);
  smdebug::twin::Net net;
  torch::nn::CrossEntropyLoss criterion;
  torch::optim::SGD optimizer(net->parameters(), /*lr=*/0.1);

  auto config = smdebug::LoadHookConfig(argv[2], smdebug::Framework::kPyTorch);
  config.out_dir = argv[1];
  smdebug::TorchHook hook(config);
  hook.Register(net);
  for (int64_t step = 0; step < 6; ++step) {
    const bool is_training = step % 3 != 2;
    hook.SetMode(is_training ? Mode::kTrain : Mode::kEval);
    net->train(is_training);
    const auto [x, y] = smdebug::twin::Batch(step);
    optimizer.zero_grad();
    const auto loss = hook.Loss(criterion, hook.Forward(net, x), y);
    hook.SaveScalar("step", static_cast<double>(step));
    if (!is_training) continue;
    loss.backward();
    optimizer.step();
  }
  return 0;
}
