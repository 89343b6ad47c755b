"""A training that goes wrong, and what shows it: weights shrink until gradients vanish.

python examples/pytorch/goes_wrong.py --out-dir runs/goes_wrong
"""

from __future__ import annotations

import argparse

import smdebug.pytorch as smd
import torch
from digits import batch
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(28 * 28, 64)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(64, 64)
        self.relu2 = nn.ReLU()
        self.fc3 = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu1(self.fc1(x.flatten(1)))
        out: Tensor = self.fc3(self.relu2(self.fc2(x)))
        return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out-dir", default="runs/goes_wrong", help="folder of the run")
    parser.add_argument("--steps", type=int, default=300)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    net = Net()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)

    # Numbers in place of tensors are enough to see it.
    hook = smd.Hook(
        out_dir=arguments.out_dir,
        include_collections=["weights", "gradients"],
        save_config=smd.SaveConfig(save_interval=2),
        reduction_config=smd.ReductionConfig(abs_reductions=["mean"], norms=["l2"]),
    )
    hook.register_module(net)
    hook.register_loss(loss_function)

    for step in range(arguments.steps):
        # The mistake: a weight decay that grows, where it was meant to shrink.
        decay = 1e-4 * 10000 ** (step / arguments.steps)
        optimizer.param_groups[0]["weight_decay"] = decay

        images, labels = batch(64)
        optimizer.zero_grad()
        loss = loss_function(net(images), labels)
        loss.backward()
        optimizer.step()
        hook.save_scalar("weight_decay", decay)
        if step % 50 == 0 or step == arguments.steps - 1:
            print(f"step {step}: weight decay {decay:.4f}, loss {loss.item():.3f}")

    hook.close()
    print(f"""
The loss falls, rises again to ln 10, which is guessing, and stays there. Why:
  smdebug plot {arguments.out_dir} CrossEntropyLoss_output_0
  smdebug plot {arguments.out_dir} gradient/Net_fc1.weight:abs_mean
  smdebug plot {arguments.out_dir} Net_fc1.weight:l2
  smdebug plot {arguments.out_dir} weight_decay""")


if __name__ == "__main__":
    main()
