"""docs/recipes/accelerate.md."""

from __future__ import annotations

from pathlib import Path

import accelerate
import numpy as np
import pytest
import torch
from smdebug import modes
from smdebug.trials import create_trial
from support.recipes import RunRecipe, run_in_two_processes, training_of_recipe
from support.scripts import WarmPython

NAMES = ["0.weight", "0.bias", "2.weight", "2.bias"]


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What Accelerate was given to go back from."""
    given: list[float] = []
    backward = accelerate.Accelerator.backward

    def note(self: accelerate.Accelerator, loss: torch.Tensor, **options: object) -> None:
        given.append(loss.item())
        backward(self, loss, **options)

    monkeypatch.setattr(accelerate.Accelerator, "backward", note)
    return given


def test_what_is_saved_is_what_the_loop_trains_with(
    run_recipe: RunRecipe, losses: list[float], gradients: list[list[torch.Tensor]]
) -> None:
    run_recipe("accelerate")
    trial = create_trial("runs/accelerate")
    loss = trial.tensor("CrossEntropyLoss_output_0")
    for step in trial.steps(mode=modes.TRAIN):
        assert loss.value(step, mode=modes.TRAIN).item() == losses[step]
        for name, gradient in zip(NAMES, gradients[step]):
            saved = trial.tensor(f"gradient/Net_{name}").value(step, mode=modes.TRAIN)
            np.testing.assert_array_equal(saved, gradient.numpy())
    assert loss.steps(mode=modes.EVAL) == list(range(6))
    assert trial.tensor("gradient/Net_0.weight").steps(mode=modes.EVAL) == []
    assert trial.run_info().state == "finished"


# An epoch has 8 batches: of 3 at a time, the last two are a step of their own.
@pytest.mark.parametrize(("accumulate", "steps"), [(2, 12), (3, 9)])
def test_accumulated_gradients_are_those_of_the_optimizer(
    accumulate: int,
    steps: int,
    run_recipe: RunRecipe,
    gradients: list[list[torch.Tensor]],
) -> None:
    train = run_recipe("accelerate")["train"]
    gradients.clear()
    train("accumulated", accumulate=accumulate)
    trial = create_trial("accumulated")
    assert len(gradients) == steps
    assert trial.steps(mode=modes.TRAIN) == list(range(0, steps, 2))
    for name in NAMES:
        saved = trial.tensor(f"gradient/Net_{name}")
        assert saved.steps(mode=modes.TRAIN) == list(range(0, steps, 2))
        for step in range(0, steps, 2):
            expected = gradients[step][NAMES.index(name)].numpy()
            np.testing.assert_array_equal(saved.value(step, mode=modes.TRAIN), expected)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_training_is_the_same_without_a_hook(
    accumulate: int, run_recipe: RunRecipe, run_without_hook: RunRecipe
) -> None:
    ours = run_recipe("accelerate")["train"]("again", accumulate=accumulate)[0].state_dict()
    plain = run_without_hook("accelerate")["train"]("no", accumulate=accumulate)[0].state_dict()
    assert Path("again").exists()
    assert not Path("no").exists()
    assert ours.keys() == plain.keys()
    assert all(torch.equal(ours[name], plain[name]) for name in plain)


def test_a_rule_ends_the_loop(run_recipe: RunRecipe) -> None:
    hook = run_recipe("accelerate")["hook"]
    exploding, _ = hook.rule_reports
    assert exploding["status"] == "IssuesFound"
    assert create_trial("runs/accelerate-wrong").run_info().state == "finished"


def test_two_processes_stop_together(python: WarmPython, folder: Path) -> None:
    wrong = '\nmodel, hook = train("runs/wrong", lr=1e20, epochs=10_000)\n'
    run_in_two_processes(training_of_recipe("accelerate") + wrong, python, folder)
    trial = create_trial("runs/accelerate")
    assert trial.workers() == ["worker_0"]
    assert trial.steps(mode=modes.TRAIN) == list(range(0, 12, 2))
    assert trial.steps(mode=modes.EVAL) == list(range(3))
    assert "gradient/Net_0.weight" in trial.tensor_names(collection="gradients")
    assert create_trial("runs/wrong").steps(mode=modes.TRAIN)[-1] < 10_000
