"""docs/recipes/lightning.md."""

from __future__ import annotations

import csv
import functools
import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from lightning import Callback, Trainer
from smdebug import modes
from smdebug.exceptions import RuleEvaluationConditionMet
from smdebug.trials import create_trial
from support.recipes import (
    RunRecipe,
    run_in_two_processes,
    script_of_recipe,
    training_of_recipe,
    write_script,
)
from support.scripts import WarmPython

# Lightning and PyTorch warn about each other.
pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = ["0.weight", "0.bias", "2.weight", "2.bias"]


def logged(folder: Path, name: str, version: int = 0) -> list[float]:
    """What Lightning's own logger has of a metric."""
    with (folder / f"logs/lightning_logs/version_{version}/metrics.csv").open() as file:
        return [float(row[name]) for row in csv.DictReader(file) if row[name]]


def test_what_is_saved_is_what_lightning_trains_with(
    run_recipe: RunRecipe, gradients: list[list[torch.Tensor]], folder: Path
) -> None:
    run_recipe("lightning")
    trial = create_trial("runs/lightning")
    loss = trial.tensor("CrossEntropyLoss_output_0")

    training = logged(folder, "train_loss")
    assert len(training) == 24
    for step in trial.steps(mode=modes.TRAIN):
        assert loss.value(step, mode=modes.TRAIN).item() == training[step]
        for name, gradient in zip(NAMES, gradients[step]):
            saved = trial.tensor(f"gradient/Sequential_{name}").value(step, mode=modes.TRAIN)
            np.testing.assert_array_equal(saved, gradient.numpy())

    validations = [loss.value(step, mode=modes.EVAL).item() for step in range(6)]
    assert np.mean(np.reshape(validations, (3, 2)), axis=1) == pytest.approx(
        logged(folder, "val_loss"), rel=1e-6
    )
    assert trial.tensor("gradient/Sequential_0.weight").steps(mode=modes.EVAL) == []
    assert trial.run_info().state == "finished"


# An epoch has 8 batches: of 3 at a time, the last two are a step of their own.
@pytest.mark.parametrize(("accumulate", "steps"), [(2, 12), (3, 9)])
def test_accumulated_gradients_are_those_of_the_optimizer(
    accumulate: int,
    steps: int,
    run_recipe: RunRecipe,
    gradients: list[list[torch.Tensor]],
) -> None:
    fit = run_recipe("lightning")["fit"]
    gradients.clear()
    fit("accumulated", accumulate=accumulate)
    trial = create_trial("accumulated")
    assert len(gradients) == steps
    assert trial.steps(mode=modes.TRAIN) == list(range(0, steps, 2))
    for name in NAMES:
        saved = trial.tensor(f"gradient/Sequential_{name}")
        assert saved.steps(mode=modes.TRAIN) == list(range(0, steps, 2))
        for step in range(0, steps, 2):
            expected = gradients[step][NAMES.index(name)].numpy()
            np.testing.assert_array_equal(saved.value(step, mode=modes.TRAIN), expected)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_training_is_the_same_without_a_hook(
    accumulate: int, run_recipe: RunRecipe, run_without_hook: RunRecipe
) -> None:
    ours = run_recipe("lightning")["fit"]("again", accumulate=accumulate)[0].model.state_dict()
    plain = run_without_hook("lightning")["fit"]("no", accumulate=accumulate)[0].model.state_dict()
    assert Path("again").exists()
    assert not Path("no").exists()
    assert ours.keys() == plain.keys()
    assert all(torch.equal(ours[name], plain[name]) for name in plain)


def test_a_rule_stops_fit_in_an_orderly_way(run_recipe: RunRecipe, folder: Path) -> None:
    names = run_recipe("lightning")
    trainer, hook = names["trainer"], names["hook"]
    assert trainer.state.finished
    assert list((folder / "logs/lightning_logs/version_2/checkpoints").iterdir())
    exploding, _ = hook.rule_reports
    assert exploding["status"] == "IssuesFound"
    assert create_trial("runs/lightning-wrong").run_info().state == "finished"


def test_a_rule_may_raise_out_of_fit(run_recipe: RunRecipe) -> None:
    names = run_recipe("lightning")
    del names["Debugger"].on_train_batch_end
    names["Debugger"] = functools.partial(names["Debugger"], stop_on_rule=True)
    with pytest.raises(RuleEvaluationConditionMet, match="ExplodingTensor"):
        names["fit"]("raising", lr=1e20, epochs=1000)
    assert create_trial("raising").run_info().state == "failed"


def test_a_loss_that_is_a_function_and_metrics(run_recipe: RunRecipe, folder: Path) -> None:
    names = run_recipe("lightning")

    def save_loss(self: Callback, _trainer: Trainer, _module: object, loss: torch.Tensor) -> None:
        self.hook.record_tensor_value("train_loss", loss)

    works = names["Debugger"].on_validation_end

    def save_metric(self: Callback, trainer: Trainer, module: object) -> None:
        if self.hook:
            self.hook.save_scalar("val_loss", trainer.callback_metrics["val_loss"])
        works(self, trainer, module)

    names["Debugger"].on_before_backward = save_loss
    names["Debugger"].on_validation_end = save_metric
    names["fit"]("functional")
    trial = create_trial("functional")
    losses = logged(folder, "train_loss")
    loss = trial.tensor("train_loss_output_0")
    assert "train_loss_output_0" in trial.tensor_names(collection="losses")
    for step in range(0, 24, 2):
        assert loss.value(step, mode=modes.TRAIN).item() == losses[step]
    scalar = trial.tensor("scalar/val_loss")
    assert scalar.steps(mode=modes.EVAL) == [1, 3, 5]
    values = [scalar.value(step, mode=modes.EVAL).item() for step in (1, 3, 5)]
    assert values == logged(folder, "val_loss")


@pytest.mark.parametrize(("strategy", "forwards"), [("auto", 0), ("ddp", 24)])
def test_a_lightning_module_has_no_forward_pass_of_its_own(
    strategy: str, forwards: int, folder: Path, python: WarmPython
) -> None:
    script = training_of_recipe("lightning").replace("(module.net)", "(module)")
    script = script.replace('accelerator="cpu"', f'accelerator="cpu", strategy="{strategy}"')
    script += f"\nassert hook.mode_steps.get(smd.modes.TRAIN, -1) + 1 == {forwards}\n"
    done = python.run([write_script(script, folder)], folder)
    assert done.returncode == 0, done.stdout


def test_an_exception_leaves_a_failed_run(run_recipe: RunRecipe) -> None:
    names = run_recipe("lightning")
    works = names["Classifier"].training_step

    def fails(self: object, batch: object, batch_idx: int) -> torch.Tensor:
        if batch_idx == 5:
            raise ValueError("boom")
        result: torch.Tensor = works(self, batch, batch_idx)
        return result

    names["Classifier"].training_step = fails
    with pytest.raises(ValueError, match="boom"):
        names["fit"]("failing")
    info = create_trial("failing").run_info()
    assert (info.state, info.reason) == ("failed", "ValueError: boom")


@pytest.mark.parametrize("made", ["in the callback", "before"])
def test_sigterm_is_left_to_lightning(made: str, python: WarmPython, folder: Path) -> None:
    script = training_of_recipe("lightning")
    told = "class Classifier(L.LightningModule):\n"
    script = script.replace(
        "    def on_exception(self, trainer, module, exception):\n",
        "    def on_train_batch_start(self, *_):\n"
        "        print('training', flush=True)\n\n"
        "    def on_exception(self, trainer, module, exception):\n"
        "        print('told of', type(exception).__name__, flush=True)\n",
    ).replace('fit("runs/lightning")', 'fit("runs/lightning", epochs=100_000)')
    if made == "before":
        script = script.replace(told, f"other = smd.Hook('runs/other')\n\n\n{told}")
    process = python.start([write_script(script, folder)], folder)
    process.read_until("training")
    os.kill(process.pid, signal.SIGTERM)
    done = process.finish()
    assert "told of SIGTERMException" in done.stdout
    assert done.returncode == 0, done.stdout
    info = create_trial("runs/lightning").run_info()
    assert (info.state, info.reason) == ("interrupted", "SIGTERMException")


def test_two_processes_stop_together(python: WarmPython, folder: Path) -> None:
    script = training_of_recipe("lightning")
    script = script.replace('accelerator="cpu"', 'accelerator="cpu", devices=2, strategy="ddp"')
    script += '\ntrainer, hook = fit("runs/wrong", lr=1e20, epochs=1000)\n'
    script += "assert trainer.current_epoch < 1000\n"
    run_in_two_processes(script, python, folder)
    trial = create_trial("runs/lightning")
    assert trial.workers() == ["worker_0"]
    assert trial.steps(mode=modes.TRAIN) == list(range(0, 12, 2))
    assert trial.steps(mode=modes.EVAL) == list(range(3))
    assert "gradient/Sequential_0.weight" in trial.tensor_names(collection="gradients")


def test_the_other_name_of_lightning(folder: Path) -> None:
    script = script_of_recipe("lightning").replace(
        "import lightning as", "import pytorch_lightning as"
    )
    script = script.replace("from lightning.pytorch.", "from pytorch_lightning.")
    exec(compile(script, "recipe", "exec"), {"__name__": "__main__"})
    assert len(logged(folder, "train_loss")) == 24
