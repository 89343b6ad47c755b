"""docs/recipes/hugging-face.md."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
import torch
from smdebug import modes
from smdebug.exceptions import RuleEvaluationConditionMet
from smdebug.pytorch import Hook
from smdebug.trials import create_trial
from support.recipes import RunRecipe, run_in_two_processes, training_of_recipe
from support.scripts import WarmPython
from transformers import Trainer


def logged(trainer: Trainer, key: str) -> list[float]:
    """What the Trainer has logged as `key`."""
    return [entry[key] for entry in trainer.state.log_history if key in entry]


# An epoch has 8 batches: of 3 at a time, the last two are a step of their own.
@pytest.mark.parametrize("accumulate", [1, 2, 3])
def test_what_is_saved_is_what_the_trainer_logs(
    accumulate: int, run_recipe: RunRecipe, run_without_hook: RunRecipe
) -> None:
    ours = run_recipe("hugging-face")["train"]("again", accumulate=accumulate)
    plain = run_without_hook("hugging-face")["train"]("no", accumulate=accumulate)
    assert Path("again").exists()
    assert not Path("no").exists()
    trial = create_trial("again")

    losses, norms = logged(plain, "loss"), logged(plain, "grad_norm")
    assert len(losses) == len(norms) == 12
    parameters = [name for name, _ in plain.model.named_parameters()]
    for step in trial.steps(mode=modes.TRAIN):
        saved = [
            trial.tensor(name).value(step, mode=modes.TRAIN).item()
            for name in ("loss", "loss_1", "loss_2")[:accumulate]
        ]
        assert sum(saved) == pytest.approx(losses[step], rel=1e-6)
        gradients = [
            trial.tensor(f"gradient/LlamaForCausalLM_{name}").value(step, mode=modes.TRAIN)
            for name in parameters
        ]
        norm = np.sqrt(sum(np.sum(gradient.astype(float) ** 2) for gradient in gradients))
        assert norm == pytest.approx(norms[step], rel=1e-5)

    loss = trial.tensor("loss")
    evaluations = [loss.value(step, mode=modes.EVAL).item() for step in range(4)]
    assert np.mean(np.reshape(evaluations, (2, 2)), axis=1) == pytest.approx(
        logged(plain, "eval_loss"), rel=1e-6
    )
    assert trial.tensor_names(collection="gradients", mode=modes.EVAL) == []
    assert trial.run_info().state == "finished"

    ours_at_end, plain_at_end = ours.model.state_dict(), plain.model.state_dict()
    assert ours_at_end.keys() == plain_at_end.keys()
    assert all(torch.equal(ours_at_end[name], plain_at_end[name]) for name in plain_at_end)


def test_a_loss_that_the_trainer_computes(run_recipe: RunRecipe) -> None:
    names = run_recipe("hugging-face")

    def compute_loss(
        self: Trainer, model: object, inputs: object, return_outputs: bool = False, **kwargs: object
    ) -> object:
        result = Trainer.compute_loss(self, model, inputs, return_outputs, **kwargs)
        names["hook"].record_tensor_value("loss", result[0] if return_outputs else result)
        return result

    names["DebuggedTrainer"].compute_loss = compute_loss
    trainer = names["train"]("computed")
    trial = create_trial("computed")
    assert trial.tensor_names(collection="losses") == ["loss_output_0"]
    losses = logged(trainer, "loss")
    loss = trial.tensor("loss_output_0")
    for step in trial.steps(mode=modes.TRAIN):
        assert loss.value(step, mode=modes.TRAIN).item() == pytest.approx(losses[step], rel=1e-6)
    assert loss.steps(mode=modes.EVAL) == [0, 1, 2, 3]


def test_a_rule_stops_the_trainer_in_an_orderly_way(run_recipe: RunRecipe) -> None:
    names = run_recipe("hugging-face")
    exploding, _ = names["hook"].rule_reports
    assert exploding["status"] == "IssuesFound"
    # The Trainer has written its summary, as at any other end.
    assert logged(names["trainer"], "train_runtime")
    assert np.isnan(
        create_trial("runs/hugging-face-wrong").tensor("loss").value(3, mode=modes.TRAIN)
    )
    assert logged(names["trainer"], "loss")[3] == 0.0


def test_a_rule_may_raise_out_of_the_trainer(
    run_recipe: RunRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = run_recipe("hugging-face")
    del names["Debugger"].on_step_end
    monkeypatch.setattr("smdebug.pytorch.Hook", functools.partial(Hook, stop_on_rule=True))
    with pytest.raises(RuleEvaluationConditionMet, match="ExplodingTensor"):
        names["train"]("raising", lr=1e30, steps=10_000)
    names["hook"].close()
    assert create_trial("raising").run_info().state == "failed"


def test_two_processes_stop_together(python: WarmPython, folder: Path) -> None:
    wrong = '\ntrainer = train("runs/wrong", lr=1e30, steps=10_000)\n'
    wrong += "assert trainer.state.global_step < 10_000\n"
    run_in_two_processes(training_of_recipe("hugging-face") + wrong, python, folder)
    trial = create_trial("runs/hugging-face")
    assert trial.workers() == ["worker_0"]
    assert trial.steps(mode=modes.TRAIN) == [0, 3, 6, 9]
    assert trial.steps(mode=modes.EVAL) == [0, 1]
    names = trial.tensor_names(collection="gradients")
    assert "gradient/LlamaForCausalLM_lm_head.weight" in names
