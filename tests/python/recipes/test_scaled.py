"""Trainings in which Lightning and Accelerate scale losses, here by a scaler for the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch
from accelerate import Accelerator
from lightning import LightningModule, Trainer
from lightning.pytorch.plugins.precision import MixedPrecision
from smdebug.trials import create_trial
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

pytestmark = pytest.mark.filterwarnings("ignore")

STEPS = 6
BAD = 1


def loss_of(net: nn.Module, batch: list[Tensor], number: int) -> Tensor:
    """The gradients of batch BAD are infinite."""
    out = net(batch[0])
    if number == BAD:
        out.register_hook(lambda gradient: gradient * float("inf"))
    loss: Tensor = nn.functional.cross_entropy(out.float(), batch[1])
    return loss


def batches() -> DataLoader[tuple[Tensor, ...]]:
    x = torch.randn(8 * STEPS, 4, generator=torch.Generator().manual_seed(0))
    return DataLoader(TensorDataset(x, x[:, :3].argmax(dim=1)), batch_size=8)


def hook_on(net: nn.Module) -> smd.Hook:
    hook = smd.Hook(
        "run",
        include_collections=["gradients"],
        save_config=smd.SaveConfig(save_interval=1),
        forwards_per_step="auto",
        rules=["ExplodingTensor"],
    )
    hook.register_module(net)
    return hook


def assert_run_is_right(hook: smd.Hook, gradients: list[list[Tensor]]) -> None:
    hook.close()
    trial = create_trial("run")
    assert trial.steps() == list(range(STEPS))
    skipped = trial.tensor("scalar/step_skipped").values()
    assert [value.item() for value in skipped.values()] == [s == BAD for s in range(STEPS)]
    scales = trial.tensor("scalar/grad_scale").values()
    assert [value.item() for value in scales.values()] == [1024.0] * 2 + [512.0] * 4
    made = [step for step in range(STEPS) if step != BAD]
    assert len(gradients) == len(made)
    for step, (weight, _) in zip(made, gradients):
        np.testing.assert_array_equal(
            trial.tensor("gradient/Linear_weight").value(step), weight.numpy()
        )
    assert not np.isfinite(trial.tensor("gradient/Linear_weight").value(BAD)).any()
    assert [report["status"] for report in hook.rule_reports] == ["NoIssuesFound"]
    assert hook.stats["errors"] == hook.stats["skipped"] == 0


def test_lightning(gradients: list[list[Tensor]]) -> None:
    class Classifier(LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Linear(4, 3)

        def training_step(self, batch: list[Tensor], number: int) -> Tensor:
            return loss_of(self.net, batch, number)

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    module = Classifier()
    hook = hook_on(module.net)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    trainer = Trainer(
        accelerator="cpu",
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        plugins=[MixedPrecision("16-mixed", "cpu", scaler)],
    )
    trainer.fit(module, batches())
    assert_run_is_right(hook, gradients)


def test_accelerate(gradients: list[list[Tensor]]) -> None:
    accelerator = Accelerator(cpu=True)
    accelerator.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    net = nn.Linear(4, 3)
    net, optimizer, loader = accelerator.prepare(
        net, torch.optim.SGD(net.parameters(), lr=0.1), batches()
    )
    hook = hook_on(accelerator.unwrap_model(net))
    for number, batch in enumerate(loader):
        optimizer.zero_grad()
        accelerator.backward(loss_of(net, batch, number))
        optimizer.step()
        assert optimizer.step_was_skipped == (number == BAD)
    assert_run_is_right(hook, gradients)
