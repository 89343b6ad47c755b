"""Trains a network with a hook that saves what any rule could ask for."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Callable

import smdebug.pytorch as smd
import torch
from torch import Tensor, nn

Batch = tuple[Tensor, Tensor]


@dataclasses.dataclass
class Job:
    """A network, its data, and how it is trained."""

    net: nn.Module
    train: Callable[[int], Batch]  # The batch of a step.
    evaluate: Callable[[], Batch] | None = None
    loss: nn.Module = dataclasses.field(default_factory=nn.CrossEntropyLoss)
    lr: float = 0.05
    momentum: float = 0.9
    steps: int = 120
    save_interval: int = 4
    evaluate_every: int = 20
    # Called before each step with its number.
    before: Callable[[int], None] | None = None


def run(job: Job, out_dir: Path) -> None:
    """Trains and saves weights, gradients, losses, inputs, outputs, labels and predictions."""
    hook = smd.Hook(
        out_dir=str(out_dir),
        save_all=True,
        save_config={
            smd.modes.TRAIN: smd.SaveConfigMode(save_interval=job.save_interval),
            smd.modes.EVAL: smd.SaveConfigMode(save_interval=1),
        },
    )
    hook.register_module(job.net)
    hook.register_loss(job.loss)
    learning = [parameter for parameter in job.net.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(learning, lr=job.lr, momentum=job.momentum)
    hook.set_mode(smd.modes.TRAIN)
    for step in range(job.steps):
        if job.before is not None:
            job.before(step)
        inputs, targets = job.train(step)
        optimizer.zero_grad()
        outputs = job.net(inputs)
        _save_classes(hook, outputs, targets)
        job.loss(outputs, targets).backward()
        optimizer.step()
        if job.evaluate is not None and (step + 1) % job.evaluate_every == 0:
            _evaluate(job, hook)
    hook.close()
    smd.del_hook()


def _evaluate(job: Job, hook: smd.Hook) -> None:
    assert job.evaluate is not None
    hook.set_mode(smd.modes.EVAL)
    job.net.eval()
    with torch.no_grad():
        inputs, targets = job.evaluate()
        outputs = job.net(inputs)
        job.loss(outputs, targets)
    job.net.train()
    hook.set_mode(smd.modes.TRAIN)


def _save_classes(hook: smd.Hook, outputs: Tensor, targets: Tensor) -> None:
    if targets.dtype == torch.long:
        hook.save_tensor("labels", targets, "labels")
        hook.save_tensor("predictions", outputs.argmax(dim=1), "predictions")
