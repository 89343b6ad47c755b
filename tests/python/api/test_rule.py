"""Rules over runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from smdebug.exceptions import (
    NoMoreData,
    RuleEvaluationConditionMet,
    SMDebugTypeError,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)
from smdebug.rules import RequiredTensors, Rule, invoke_rule
from smdebug.trials import Trial, create_trial
from support.log import logged
from support.native_run import NativeRun, make_run


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return create_trial(make_run(tmp_path / "run", steps=6))


class LowLoss(Rule):
    """As the documents write rules: the base class gets the trial alone."""

    def __init__(self, base_trial: Trial, threshold: float = 0.3) -> None:
        super().__init__(base_trial)
        self.threshold = float(threshold)
        self.checked: list[int] = []

    def invoke_at_step(self, step: int) -> bool:
        self.checked.append(step)
        assert not self.base_trial.dynamic_refresh
        for name in self.base_trial.tensors(collection="losses"):
            if (
                self.base_trial.tensor(name).reduction_value(step, "mean", abs=True)
                < self.threshold
            ):
                return True
        return False


class Needs(Rule):
    """Needs a tensor at the step and at the one before."""

    def __init__(self, trial: Trial, name: str, regex: bool = False) -> None:
        super().__init__(trial, None)
        self.name = name
        self.regex = regex
        self.got: dict[int, list[str]] = {}

    def set_required_tensors(self, step: int) -> None:
        steps = [step]
        self.req_tensors.add(self.name, steps, should_match_regex=self.regex)
        steps.append(99)  # The list was copied.

    def invoke_at_step(self, step: int) -> bool:
        self.got[step] = self.req_tensors.get_names()
        tensors = self.req_tensors.get()
        assert {tensor.name for tensor in tensors} == set(self.got[step])
        for tensor in tensors:
            assert self.req_tensors.get_tensor_steps(tensor.name) == [step]
        return False


def test_a_rule_is_abstract(trial: Trial) -> None:
    with pytest.raises(TypeError):
        Rule(trial)  # type: ignore[abstract]


def test_a_rule_knows_what_it_was_made_of(trial: Trial) -> None:
    rule = LowLoss(trial)
    assert (rule.base_trial, rule.other_trials, rule.trials) == (trial, None, [trial])
    assert rule.rule_name == "LowLoss"
    assert rule.report["RuleTriggered"] == 0
    assert isinstance(rule.req_tensors, RequiredTensors)


def test_one_other_trial_is_taken_as_a_list_of_one(trial: Trial) -> None:
    class Compares(Rule):
        def invoke_at_step(self, step: int) -> bool:
            return step < 0

    for others in (trial, [trial], (trial,)):
        rule = Compares(trial, other_trials=others)  # type: ignore[arg-type]
        assert (rule.other_trials, rule.trials) == ([trial], [trial, trial])
    for wrong in (5, b"run", "run", [trial, "run"]):
        with pytest.raises(SMDebugTypeError, match="a trial, or a list of them"):
            Compares(trial, other_trials=wrong)  # type: ignore[arg-type]


def test_invoke_raises_where_the_condition_is_met(trial: Trial) -> None:
    rule = LowLoss(trial)
    assert rule.invoke(0) is None  # type: ignore[func-returns-value]
    with pytest.raises(RuleEvaluationConditionMet) as fired:
        rule.invoke(3)
    assert (fired.value.rule_name, fired.value.step) == ("LowLoss", 3)
    assert trial.dynamic_refresh


def test_a_rule_is_checked_until_the_job_ends(trial: Trial) -> None:
    rule = LowLoss(trial)
    with logged() as texts, pytest.raises(NoMoreData) as ended:
        invoke_rule(rule)
    assert (ended.value.step, ended.value.last_step) == (6, 5)
    assert rule.checked == [0, 1, 2, 3, 4, 5]
    met = [text for text in texts if "condition being met" in text]
    assert [text.split("step ")[1].split()[0] for text in met] == ["3", "4", "5"]


def test_a_rule_is_checked_between_two_steps(trial: Trial) -> None:
    rule = LowLoss(trial)
    invoke_rule(rule, start_step=1, end_step=4)
    assert rule.checked == [1, 2, 3]
    with pytest.raises(RuleEvaluationConditionMet):
        invoke_rule(rule, end_step=5, raise_eval_cond=True)


def test_a_rule_may_end_itself(trial: Trial) -> None:
    class Ends(LowLoss):
        def invoke_at_step(self, step: int) -> bool:
            self.checked.append(step)
            raise RuleEvaluationConditionMet(self.rule_name, step, end_of_rule=True)

    rule = Ends(trial)
    invoke_rule(rule, end_step=5)
    assert rule.checked == [0]


def test_steps_that_were_not_saved_are_passed_over(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        for step in (0, 2, 5):
            run.save_step({"loss": [1.0]}, number=step)
    rule = LowLoss(create_trial(tmp_path / "run"))
    invoke_rule(rule, end_step=6)
    assert rule.checked == [0, 2, 5]
    with pytest.raises(StepUnavailable):
        rule.invoke(1)


def test_required_tensors_are_read_first(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"a_1": [1.0]})
        run.save_step({"a_1": [1.0], "a_2": [1.0], "b": [1.0]})
    trial = create_trial(tmp_path / "run")
    exact = Needs(trial, "b")
    with pytest.raises(TensorUnavailableForStep):
        exact.invoke(0)
    invoke_rule(exact, end_step=2)
    assert exact.got == {1: ["b"]}
    matching = Needs(trial, "^a_", regex=True)
    invoke_rule(matching, end_step=2)
    assert matching.got == {1: ["a_1", "a_2"]}
    with pytest.raises(TensorUnavailable):
        Needs(trial, "c").invoke(1)


def test_tensors_of_other_trials(trial: Trial, tmp_path: Path) -> None:
    other = create_trial(make_run(tmp_path / "other", steps=2))
    needed = RequiredTensors(trial, [other])
    needed.add("loss", [0, 5])
    needed.add("loss", [1], trial=other)
    needed.add("loss", [0], trial=other)
    assert needed.get_tensor_steps("loss") == [0, 5]
    assert needed.get_tensor_steps("loss", other) == [1, 0]
    assert [tensor.trial for tensor in needed.get(other)] == [other]
    needed.fetch()
    needed.add("loss", [4], trial=other)
    with pytest.raises(NoMoreData):
        needed.fetch()
    needed.clear()
    assert needed.get_names() == needed.get_names(other) == []


def test_actions_that_are_wrong_do_not_keep_a_rule_from_firing(trial: Trial) -> None:
    class Acts(LowLoss):
        def __init__(self, base_trial: Trial) -> None:
            Rule.__init__(self, base_trial, '{"name": "stoptraining"}', [])

        def invoke_at_step(self, step: int) -> bool:
            return step == 0

    with logged() as texts:
        rule = Acts(trial)
        assert rule.action_str == '{"name": "stoptraining"}'
        with pytest.raises(RuleEvaluationConditionMet):
            rule.invoke(0)
    assert sum("training_job_prefix is missing" in text for text in texts) == 1
