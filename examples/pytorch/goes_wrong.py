"""A training that goes wrong: a deep network of sigmoids, whose gradients vanish.

python examples/pytorch/goes_wrong.py --out-dir runs/goes_wrong
python examples/pytorch/goes_wrong.py --out-dir runs/fixed --fix
"""

from __future__ import annotations

import argparse

import smdebug.pytorch as smd
import torch
from digits import batch
from torch import Tensor, nn

DEPTH = 8
WIDTH = 64


class Net(nn.Module):
    def __init__(self, fix: bool) -> None:
        super().__init__()
        sizes = [28 * 28] + [WIDTH] * DEPTH
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        # The mistake: each sigmoid leaves a quarter of the gradient at most, and of eight in a row
        # nothing is left for the first layer. A ReLU passes it on, if the weights fit.
        self.activation: nn.Module = nn.ReLU() if fix else nn.Sigmoid()
        if fix:
            for layer in self.hidden:
                assert isinstance(layer, nn.Linear)
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        self.out = nn.Linear(WIDTH, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(1)
        for layer in self.hidden:
            x = self.activation(layer(x))
        out: Tensor = self.out(x)
        return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out-dir", default="runs/goes_wrong", help="folder of the run")
    parser.add_argument("--fix", action="store_true", help="with ReLUs and weights that fit")
    parser.add_argument("--steps", type=int, default=50_000, help="steps to train at most")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)  # The network is too small for more.
    net = Net(arguments.fix)
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9)

    # Numbers in place of tensors are enough to see it.
    hook = smd.Hook(
        out_dir=arguments.out_dir,
        include_collections=["weights", "gradients", "losses"],
        save_config=smd.SaveConfig(save_interval=5),
        reduction_config=smd.ReductionConfig(abs_reductions=["mean"], norms=["l2"]),
    )
    hook.register_module(net)
    hook.register_loss(loss_function)

    mean = None
    for step in range(arguments.steps):
        images, labels = batch(64)
        optimizer.zero_grad()
        loss = loss_function(net(images), labels)
        loss.backward()
        optimizer.step()
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if step % 100 == 0:
            print(f"step {step}: loss {mean:.3f}", flush=True)
        if mean < 0.1:
            print(f"step {step}: loss {mean:.3f}, the digits are known")
            break

    hook.close()
    print(f"""
Look at it:
  smdebug plot {arguments.out_dir} CrossEntropyLoss_output_0
  smdebug plot {arguments.out_dir} gradient/Net_hidden.0.weight:abs_mean""")


if __name__ == "__main__":
    main()
