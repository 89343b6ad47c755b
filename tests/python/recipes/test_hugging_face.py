"""docs/recipes/hugging-face.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from smdebug import modes
from smdebug.trials import create_trial
from support.recipes import Names, RunRecipe, run_in_two_processes, training_of_recipe


def logged(names: Names, key: str) -> list[float]:
    """What the Trainer has logged as `key`."""
    return [entry[key] for entry in names["trainer"].state.log_history if key in entry]


def test_what_is_saved_is_what_the_trainer_logs(
    run_recipe: RunRecipe, run_without_hook: RunRecipe
) -> None:
    run_recipe("hugging-face")
    trial = create_trial("runs/hugging-face")
    names = run_without_hook("hugging-face")
    loss = trial.tensor("loss_output_0")
    losses, norms = logged(names, "loss"), logged(names, "grad_norm")
    assert len(losses) == len(norms) == 12
    for step in trial.steps(mode=modes.TRAIN):
        assert loss.value(step, mode=modes.TRAIN).item() == losses[step]
        saved = trial.tensor_names(collection="gradients", step=step, mode=modes.TRAIN)
        assert len(saved) == len(names["trainer"].optimizer.param_groups[0]["params"]) + len(
            names["trainer"].optimizer.param_groups[1]["params"]
        )
        squares = [
            np.sum(trial.tensor(name).value(step, mode=modes.TRAIN).astype(float) ** 2)
            for name in saved
        ]
        assert np.sqrt(np.sum(squares)) == pytest.approx(norms[step], rel=1e-5)

    evaluations = [loss.value(step, mode=modes.EVAL).item() for step in range(4)]
    assert np.mean(np.reshape(evaluations, (2, 2)), axis=1) == pytest.approx(
        logged(names, "eval_loss"), rel=1e-6
    )
    assert trial.tensor(saved[0]).steps(mode=modes.EVAL) == []
    assert trial.run_info().state == "finished"


def test_the_training_is_the_same_without_a_hook(
    run_recipe: RunRecipe, run_without_hook: RunRecipe
) -> None:
    ours = run_recipe("hugging-face")["train"]("again").model.state_dict()
    plain = run_without_hook("hugging-face")["trainer"].model.state_dict()
    assert create_trial("again").steps()
    assert ours.keys() == plain.keys()
    assert all(torch.equal(ours[name], plain[name]) for name in plain)


def test_a_rule_stops_the_trainer_in_an_orderly_way(run_recipe: RunRecipe) -> None:
    names = run_recipe("hugging-face")
    exploding, loss = names["hook"].rule_reports
    assert (exploding["status"], loss["status"]) == ("IssuesFound", "NoIssuesFound")
    # The Trainer has written its summary, as at any other end.
    assert logged(names, "train_runtime")
    assert np.isnan(
        create_trial("runs/hugging-face-wrong").tensor("loss_output_0").value(3, mode=modes.TRAIN)
    )
    assert logged(names, "loss")[3] == 0.0


def test_two_processes_stop_together(folder: Path) -> None:
    wrong = '\ntrainer = train("runs/wrong", lr=1e30, steps=10_000)\n'
    wrong += "assert trainer.state.global_step < 10_000\n"
    run_in_two_processes(training_of_recipe("hugging-face") + wrong, folder)
    trial = create_trial("runs/hugging-face")
    assert trial.workers() == ["worker_0"]
    assert trial.steps(mode=modes.TRAIN) == [0, 3, 6, 9]
    assert trial.steps(mode=modes.EVAL) == [0, 1]
    names = trial.tensor_names(collection="gradients")
    assert "gradient/LlamaForCausalLM_lm_head.weight" in names
