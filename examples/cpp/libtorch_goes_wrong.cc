// libtorch_goes_wrong <run>: a network whose learning rate is far too high. A
// rule inside the hook sees it and stops the training.
#include <iostream>

#include <torch/torch.h>

#include "smdebug/guard.h"
#include "smdebug/torch.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: libtorch_goes_wrong <run>\n";
    return 2;
  }
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(8, 32), torch::nn::ReLU(),
                            torch::nn::Linear(32, 1));
  torch::nn::MSELoss criterion;
  torch::optim::SGD optimizer(net->parameters(), /*lr=*/30);

  smdebug::TorchHook hook(smdebug::HookConfig{
      .out_dir = argv[1],
      .save_config = smdebug::SaveConfig::Every({.save_interval = 1}),
      .include_collections = {"weights", "gradients"}});
  hook.Register(net);
  const smdebug::RuleGuard guard(
      hook.core(),
      {smdebug::ToEvaluation(smdebug::ParseRuleSpec(
          "ExplodingTensor:collection_names=gradients"))},
      /*on_fire=*/{}, smdebug::RuleGuard::WhenFired::kStop);

  for (int step = 0; step < 100'000; ++step) {
    if (guard.fired_rules() > 0) break;
    const auto x = torch::randn({16, 8});
    const auto loss =
        hook.Loss(criterion, hook.Forward(net, x), x.sum(1, true));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  hook.Close();
  for (const smdebug::RuleReport& report : guard.reports()) {
    if (report.findings.empty()) continue;
    const smdebug::Finding& first = report.findings.front();
    std::cout << "stopped: " << report.name << " at step " << first.step << ": "
              << first.tensor << ": " << first.message << '\n';
    return 1;
  }
  std::cout << "nothing went wrong\n";
  return 0;
}
