"""A convolutional network on images of digits: the five lines that watch a model.

python examples/pytorch/mnist_cnn.py --out-dir runs/mnist_cnn
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
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2)
        self.relu = nn.ReLU()
        self.fc = nn.Linear(16 * 6 * 6, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        out: Tensor = self.fc(x.flatten(1))
        return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out-dir", default="runs/mnist_cnn", help="folder of the run")
    parser.add_argument("--steps", type=int, default=200)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    net = Net()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), 0.002)

    # Weights, biases, gradients and losses, as values, every 10 steps. Losses are always saved.
    hook = smd.Hook(
        out_dir=arguments.out_dir,
        include_collections=["weights", "biases", "gradients"],
        save_config=smd.SaveConfig(save_interval=10),
    )
    # A forward pass of the model is a step. What is in it goes by its dotted name.
    hook.register_module(net)
    hook.register_loss(loss_function)

    for step in range(arguments.steps):
        images, labels = batch(64)
        optimizer.zero_grad()
        output = net(images)
        loss = loss_function(output, labels)
        loss.backward()
        optimizer.step()
        accuracy = (output.argmax(1) == labels).float().mean()
        # A number of your own. It is saved at every step, whatever the schedule says.
        hook.save_scalar("accuracy", accuracy)
        if step % 50 == 0 or step == arguments.steps - 1:
            print(f"step {step}: loss {loss.item():.3f}, accuracy {accuracy.item():.2f}")

    # Also done when the script ends, however it ends.
    hook.close()
    print(f"""
Look at the run:
  smdebug status {arguments.out_dir}
  smdebug plot {arguments.out_dir} accuracy
  smdebug show {arguments.out_dir} Net_conv1.weight""")


if __name__ == "__main__":
    main()
