"""Whatever fails in the hook, training ends with the same weights and the loss is counted."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
import smdebug.pytorch as smd
import torch
from smdebug.core.hook import BaseHook
from smdebug.exceptions import SMDebugTypeError, SMDebugValueError
from smdebug.trials import create_trial
from support.fail_open import AtStep, Core, FailOpen, Wrong, ledger_of
from support.torch_hooks import MakeHook
from support.torch_nets import Net, train
from torch import nn


class TestFailOpen(FailOpen):
    steps = 6
    core_calls = (
        *("Hook", "ForwardCallback", "GradientCallback", "built_in_collections"),
        *("unusable_collections", "Hook.add_hints"),
        *("Hook.begin_step", "Hook.save_many", "Hook.save_tensor", "Hook.save_scalar"),
        *("Hook.set_mode", "Hook.are_due", "Hook.prefixes_are_due", "Hook.due_key"),
        *("Hook.leave_out", "Hook.close", "Hook.take_elsewhere"),
    )
    setup_calls = ("SeenModule", "TensorNames")
    wrong: ClassVar[Wrong] = {
        "reductions": ({"reduction_config": "min"}, SMDebugTypeError, "reduction_config"),
        "forwards": ({"forwards_per_step": 1.5}, SMDebugValueError, "forwards_per_step.*1.5"),
    }

    def train(self, hook: BaseHook | None, at_step: AtStep | None = None) -> object:
        torch.manual_seed(3)
        net, loss = Net(), nn.CrossEntropyLoss()
        if hook is not None:
            assert isinstance(hook, smd.Hook)
            hook.register_module(net)
            hook.register_loss(loss)
            hook.set_mode(smd.modes.TRAIN)

        def after_step(step: int, value: torch.Tensor) -> None:
            if hook is not None:
                hook.set_mode(smd.modes.EVAL if step % 2 else smd.modes.TRAIN)
                hook.save_scalar("loss", value)
                if step + 1 < self.steps:  # It belongs to the next.
                    hook.save_tensor("mine", value, "custom")
            if at_step is not None:
                at_step(step)

        losses = train(net, net, loss, self.steps, after_step)
        if hook is not None:
            hook.close()
        return losses, [value.tolist() for value in net.state_dict().values()]


def test_a_fault_at_a_step_of_which_nothing_is_saved(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch, run_dir: Path
) -> None:
    hook = make_hook(save_config=smd.SaveConfig(save_interval=4), include_collections=["weights"])
    core = Core("Hook.begin_idle_step")
    core.install(monkeypatch)
    net = Net()
    hook.register_module(net)
    train(net, net, nn.CrossEntropyLoss(), 10)
    hook.close()
    assert core.failures > 0
    monkeypatch.undo()
    assert create_trial(str(run_dir)).steps() == [0, 4, 8]
    assert any("injected" in text for text in ledger_of(run_dir)["messages"].values())


def test_what_is_saved_goes_on_beside_a_fault(make_hook: MakeHook, run_dir: Path) -> None:
    hook = make_hook(save_all=True)
    hook.register_module(net := Net())
    for _ in range(3):
        net(torch.randn(1, 4))
        hook.save_scalar("x", [1, 2])
    hook.close()
    assert create_trial(str(run_dir)).tensor("fc_output_0").steps() == [0, 1, 2]
