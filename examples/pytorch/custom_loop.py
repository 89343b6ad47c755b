"""A loop of your own: modes, scalars, tensors, collections and accumulated gradients.

python examples/pytorch/custom_loop.py --out-dir runs/custom_loop
"""

from __future__ import annotations

import argparse

import smdebug.pytorch as smd
import torch
from torch import Tensor, nn

# An optimizer step comes after so many forward passes.
ACCUMULATED = 4


class Regressor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(8, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.out(torch.tanh(self.hidden(x)))
        return out


def batch(size: int) -> tuple[Tensor, Tensor]:
    x = torch.randn(size, 8)
    return x, (x[:, :1] * x[:, 1:2]).sin() + 0.1 * torch.randn(size, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out-dir", default="runs/custom_loop", help="folder of the run")
    parser.add_argument("--steps", type=int, default=100, help="optimizer steps")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    net = Regressor()
    optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(arguments.steps, 1))

    hook = smd.Hook(
        out_dir=arguments.out_dir,
        include_collections=["gradients", "hidden", "mistakes"],
        # A schedule for each mode: it counts the steps of that mode.
        save_config={
            smd.modes.TRAIN: smd.SaveConfigMode(save_interval=10),
            smd.modes.EVAL: smd.SaveConfigMode(save_interval=1),
        },
        # So many forward passes are one step, and the gradient saved is the accumulated one.
        forwards_per_step=ACCUMULATED,
    )
    # A collection that names a module: its outputs, and not its inputs.
    hook.get_collection("hidden").add_module_tensors(net.hidden, inputs=False, outputs=True)
    # A collection for save_tensor(). It needs a pattern or a name to be of use.
    hook.get_collection("mistakes").include("^mistakes$")
    hook.register_module(net)

    for step in range(arguments.steps):
        hook.set_mode(smd.modes.TRAIN)
        net.train()
        optimizer.zero_grad()
        total = 0.0
        for _ in range(ACCUMULATED):
            x, y = batch(32)
            loss = nn.functional.mse_loss(net(x), y) / ACCUMULATED
            loss.backward()
            total += loss.item()
        optimizer.step()
        schedule.step()
        # Scalars need no schedule: they are saved at every step.
        hook.save_scalar("train_loss", total)
        hook.save_scalar("learning_rate", schedule.get_last_lr()[0])

        if step % 20 == 19:
            hook.set_mode(smd.modes.EVAL)
            net.eval()
            with torch.no_grad():  # Nothing is accumulated: one forward pass is one step.
                x, y = batch(128)
                mistakes = (net(x) - y).squeeze(1)
            # A tensor of your own, at the current step.
            hook.save_tensor("mistakes", mistakes, collections_to_write=["mistakes"])
            hook.save_scalar("eval_loss", mistakes.square().mean())
            print(f"step {step}: loss {total:.3f}, in evaluation {mistakes.square().mean():.3f}")

    hook.close()

    # Any process can read the run, this one too.
    trial = smd.create_trial(arguments.out_dir)
    print(f"training steps {trial.steps(mode=smd.modes.TRAIN)}")
    print(f"evaluation steps {trial.steps(mode=smd.modes.EVAL)}")
    print(f"""
Look at the run:
  smdebug steps {arguments.out_dir} --long
  smdebug plot {arguments.out_dir} train_loss --mode train
  smdebug show {arguments.out_dir} mistakes --mode eval""")


if __name__ == "__main__":
    main()
