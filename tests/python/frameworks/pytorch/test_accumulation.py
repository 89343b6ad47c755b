"""Steps that end with the optimizer's, and numbers of forward passes that do not fit."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch
from smdebug.pytorch import accumulation, optimizers
from smdebug.trials import Trial
from support.log import logged
from support.torch_hooks import MakeHook, ReadRun
from support.torch_nets import Net, batches
from torch import Tensor, nn

# Ten batches an epoch, four to a step: the last step has two.
WINDOWS = [4, 4, 2, 4, 4, 2]


def train(
    net: nn.Module, windows: list[int], optimizer: torch.optim.Optimizer | None = None
) -> list[Tensor]:
    """Trains with so many batches to each step of the optimizer; the gradients that it had."""
    optimizer = optimizer or torch.optim.SGD(net.parameters(), 0.1)
    data = iter(batches(sum(windows)))
    found = []
    for window in windows:
        for _ in range(window):
            x, y = next(data)
            (nn.functional.cross_entropy(net(x), y) / window).backward()
        found.append(net.fc.weight.grad.clone())
        optimizer.step()
        optimizer.zero_grad()
    return found


def gradients(trial: Trial, mode: smd.modes = smd.modes.GLOBAL) -> dict[int, Any]:
    return dict(trial.tensor("gradient/Net_fc.weight").values(mode=mode))


def same(saved: dict[int, Any], expected: dict[int, Tensor]) -> bool:
    return list(saved) == list(expected) and all(
        np.array_equal(saved[step], expected[step].numpy()) for step in expected
    )


@pytest.mark.parametrize("interval", [1, 2])
def test_a_step_is_what_lies_between_two_steps_of_the_optimizer(
    interval: int, make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(
        include_collections=["gradients"],
        include_regex=["fc_output"],
        save_config=smd.SaveConfig(save_interval=interval),
        forwards_per_step="auto",
    )
    hook.register_module(net)
    assert hook.forwards_per_step == "auto"
    expected = train(net, WINDOWS)
    trial = read_run()
    assert trial.steps() == list(range(0, 6, interval))
    assert same(gradients(trial), dict(list(enumerate(expected))[::interval]))
    for step in trial.steps():
        outputs = trial.tensor_names(step=step, regex="fc_output")
        assert outputs == [f"fc_output_{i}" for i in range(WINDOWS[step])]
    assert hook.stats["errors"] == hook.stats["skipped"] == 0


def test_evaluation_lies_between_steps(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], save_all=True, forwards_per_step="auto")
    hook.register_module(net)
    expected = []
    for _ in range(2):
        hook.set_mode(smd.modes.TRAIN)
        expected += train(net, [3, 2])
        hook.set_mode(smd.modes.EVAL)
        with torch.no_grad():
            for x, _y in batches(3):
                net(x)
    trial = read_run()
    assert trial.steps(mode=smd.modes.TRAIN) == [0, 1, 2, 3]
    assert trial.steps(mode=smd.modes.EVAL) == [0, 1, 2, 3, 4, 5]
    assert same(gradients(trial, smd.modes.TRAIN), dict(enumerate(expected)))


def test_a_forward_pass_without_gradients_is_a_step_between_others(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], save_all=True, forwards_per_step="auto")
    hook.register_module(net)
    x = torch.randn(2, 4)
    first = train(net, [2])
    for _ in range(2):
        with torch.no_grad():
            net(x)
    second = train(net, [2])
    assert same(gradients(read_run()), {0: first[0], 3: second[0]})


def test_only_optimizers_of_the_model_end_its_steps(make_hook: MakeHook, read_run: ReadRun) -> None:
    net, other = Net(), Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step="auto")
    hook.register_module(net)
    halves = [torch.optim.SGD(part.parameters(), 0.1) for part in (net.child, net.fc)]
    stranger = torch.optim.SGD(other.parameters(), 0.1)
    for step, (x, _) in enumerate(batches(6)):
        (net(x) + other(x)).sum().backward()
        stranger.step()
        if step % 2:
            for half in halves:
                half.step()
                half.zero_grad()
    assert read_run().steps() == [0, 1, 2]


def test_an_optimizer_that_comes_with_a_new_head_is_followed(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step="auto")
    hook.register_module(net)
    expected = train(net, [2, 3])
    net.requires_grad_(False)
    net.fc = nn.Linear(8, 3)
    expected += train(net, [3, 2], torch.optim.Adam(net.fc.parameters()))
    assert same(gradients(read_run()), dict(enumerate(expected)))


def test_an_optimizer_that_runs_the_model_itself(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], save_all=True, forwards_per_step="auto")
    hook.register_module(net)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
    x, y = batches(1)[0]
    passes: list[int] = []

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        passes[-1] += 1
        return loss

    for _ in range(2):
        passes.append(0)
        optimizer.step(closure)
    assert min(passes) > 1
    trial = read_run()
    assert trial.steps() == [0, 1]
    for step in (0, 1):
        assert len(trial.tensor_names(step=step, regex="^fc_output")) == passes[step]


def test_a_step_that_a_scaler_leaves_out_is_one(make_hook: MakeHook, read_run: ReadRun) -> None:
    try:
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    except (AttributeError, TypeError):
        pytest.skip("this torch scales gradients on GPUs only")
    net = Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step="auto")
    hook.register_module(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    before = net.fc.weight.detach().clone()
    for factor in (float("inf"), 1.0):
        for x, _ in batches(2):
            scaler.scale(net(x).sum() * factor).backward()
        scaler.step(optimizer)
        assert torch.equal(before, net.fc.weight) == (factor != 1.0)
        scaler.update()
        optimizer.zero_grad()
    assert read_run().steps() == [0, 1]


@pytest.fixture
def _few_forwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulation, "MOST_FORWARDS", 4)


@pytest.mark.usefixtures("_few_forwards")
def test_without_an_optimizer_steps_stay_bounded(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(save_all=True, forwards_per_step="auto")
    hook.register_module(net)
    with logged() as said:
        for x, _ in batches(13):
            net(x).sum().backward()
    trial = read_run()
    assert trial.steps() == [0, 1, 2, 3]
    assert hook.stats["skipped"] == 3
    assert len([text for text in said if "after 4 forward passes: no optimizer" in text]) == 1


def test_a_number_that_does_not_fit_is_logged_once_and_counted(make_hook: MakeHook) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step=4)
    hook.register_module(net)
    with logged() as said:
        train(net, WINDOWS)
    told = [text for text in said if "forwards_per_step is 4" in text]
    assert len(told) == 1
    assert "stepped after 2 forward passes" in told[0]
    # At the third step of the optimizer, and from then on at each but the last.
    assert hook.stats["skipped"] == 3
    assert hook.stats["errors"] == 0


@pytest.mark.parametrize("forwards", [1, 2])
def test_a_number_that_fits_is_not_reported(
    forwards: int, make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step=forwards)
    hook.register_module(net)
    expected = train(net, [forwards] * 4)
    assert same(gradients(read_run()), dict(enumerate(expected)))
    assert hook.stats["skipped"] == 0


def test_a_step_that_was_ended_is_not_reported(make_hook: MakeHook) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step=4)
    hook.register_module(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x, _ in batches(2):
        net(x).sum().backward()
    hook.end_step()
    optimizer.step()
    assert hook.stats["skipped"] == 0


def wrapped() -> tuple[object, ...]:
    """What the hook exchanges in PyTorch."""
    optimizer = torch.optim.Optimizer
    after = getattr(sys.modules[optimizer.__module__], "_global_optimizer_post_hooks", {})
    step = vars(optimizers.GradScaler)["step"]
    return step, optimizer._optimizer_step_code, *after.values()


@pytest.mark.parametrize("forwards", [2, "auto"])
def test_pytorch_is_as_it_was_once_the_hook_is_closed(forwards: Any, make_hook: MakeHook) -> None:
    before = wrapped()
    hook = make_hook(forwards_per_step=forwards)
    hook.register_module(net := Net())
    assert wrapped() != before
    train(net, [2])
    hook.close()
    assert wrapped() == before


def test_a_failure_does_not_reach_the_optimizer(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bool:
        raise RuntimeError("injected")

    torch.manual_seed(1)
    expected = train(Net(), [2, 2])
    monkeypatch.setattr(accumulation.Accumulation, "fits", fail)
    torch.manual_seed(1)
    net = Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step="auto")
    hook.register_module(net)
    found = train(net, [2, 2])
    assert all(torch.equal(one, other) for one, other in zip(found, expected))
    assert hook.stats["skipped"] == 1


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this torch does not compile")
def test_a_compiled_step_of_the_optimizer_is_seen(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step="auto")
    hook.register_module(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    optimizer.step = torch.compile(optimizer.step, backend="eager")
    expected = train(net, [2, 2, 1], optimizer)
    assert same(gradients(read_run()), dict(enumerate(expected)))
