"""Losses and weights are bit for bit those of a training without a hook."""

from __future__ import annotations

from typing import Any

import pytest
import smdebug.pytorch as smd
import torch
from support.torch_hooks import MakeHook
from torch import Tensor, nn

STEPS = 1000

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "everything": {"save_all": True, "save_config": smd.SaveConfig(save_interval=1)},
    "everything, now and then": {
        "save_all": True,
        "save_config": smd.SaveConfig(save_interval=7, start_step=3, save_steps=[1, 2]),
    },
    "reductions": {
        "save_all": True,
        "save_config": smd.SaveConfig(save_interval=2),
        "reduction_config": smd.ReductionConfig(
            reductions=["min", "max", "mean", "std", "variance", "sum", "prod", "median"],
            abs_reductions=["mean"],
            norms=["l1", "l2"],
        ),
    },
    "collections": {
        "include_collections": ["weights", "biases", "gradients", "losses"],
        "save_config": smd.SaveConfig(save_interval=5),
    },
    "accumulating": {
        "save_all": True,
        "save_config": smd.SaveConfig(save_interval=2),
        "forwards_per_step": 2,
    },
    "accumulating as the optimizer does": {"save_all": True, "forwards_per_step": "auto"},
    "TensorBoard": {
        "include_collections": ["weights", "gradients"],
        "export_tensorboard": True,
        "save_config": smd.SaveConfig(save_interval=20),
    },
}


class WithDropout(nn.Module):
    """Random in training, and with running statistics: every draw and every pass shows."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.3)
        self.two = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.two(self.drop(torch.relu(self.norm(self.one(x)))))
        return out


def train(hook: smd.Hook | None) -> tuple[list[bytes], dict[str, bytes], bytes]:
    """The bytes of every loss, of the last state, and of the random numbers' state."""
    torch.manual_seed(5)
    net, loss = WithDropout(), nn.CrossEntropyLoss()
    if hook is not None:
        hook.register_module(net)
        hook.register_loss(loss)
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    losses = []
    for step in range(STEPS):
        if hook is not None:
            hook.set_mode(smd.modes.EVAL if step % 50 == 49 else smd.modes.TRAIN)
        net.train(step % 50 != 49)
        value = loss(net(torch.randn(5, 4)), torch.randint(0, 3, (5,)))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.detach().numpy().tobytes())
        if hook is not None:
            hook.save_scalar("loss", value)
    state = {name: value.numpy().tobytes() for name, value in net.state_dict().items()}
    return losses, state, torch.get_rng_state().numpy().tobytes()


@pytest.fixture(scope="module")
def untouched() -> tuple[list[bytes], dict[str, bytes], bytes]:
    return train(None)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_training_is_bit_identical(
    configuration: str,
    make_hook: MakeHook,
    untouched: tuple[list[bytes], dict[str, bytes], bytes],
) -> None:
    hook = make_hook(**CONFIGURATIONS[configuration])
    assert train(hook) == untouched
    hook.close()
    assert hook.stats["scalars_saved"] == STEPS
    assert hook.stats["errors"] == hook.stats["lost"] == 0
    # Where two batches make a step, the optimizer's after the first one is out of place: 25 times
    # in each 50, of which the last is of EVAL.
    assert hook.stats["skipped"] == (500 if configuration == "accumulating" else 0)
