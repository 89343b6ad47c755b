"""The built-in rules as classes, and many of them in one pass."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import sys
from pathlib import Path

import pytest
from smdebug import _core
from smdebug.core.modes import ModeKeys
from smdebug.exceptions import (
    InsufficientInformationForRuleInvocation,
    NoMoreData,
    RuleEvaluationConditionMet,
    SMDebugRuntimeError,
    SMDebugValueError,
)
from smdebug.rules import Rule, builtin, check, generic, invoke_rule
from smdebug.rules.builtin import AllZero, UnchangedTensor, VanishingGradient
from smdebug.trials import Trial, create_trial
from support.log import logged
from support.native_run import NativeRun

STEPS = 6
BAD = [2, 4]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """`w` is zero at the steps of BAD; `same` never changes."""
    gradients = {"name": "gradients", "include_regex": ["^gradient/"]}
    with NativeRun(tmp_path / "run", collections=[gradients]) as made:
        for step in range(STEPS):
            value = 0.0 if step in BAD else float(step + 1)
            small = 1e-9 if step in BAD else 1.0
            made.save_step({"w": [value, value], "same": [3.0], "gradient/w": [small, small]})
    return tmp_path / "run"


@pytest.fixture
def trial(run: Path) -> Trial:
    return create_trial(run)


def fired_steps(rule: Rule, end: int = STEPS) -> list[int]:
    fired = []
    for step in range(end):
        try:
            rule.invoke(step)
        except RuleEvaluationConditionMet as met:
            assert met.rule_name == type(rule).__name__
            fired.append(met.step)
    return fired


def test_there_is_a_class_for_each_rule_of_the_core() -> None:
    names = [described[0] for described in _core.built_in_rules()]
    assert sorted(builtin.BUILT_IN_RULES) == sorted(names)
    for name in names:
        rule = getattr(builtin, name)
        assert issubclass(rule, Rule)
        assert getattr(generic, name) is rule
        assert rule.__doc__
        parameters = list(inspect.signature(rule).parameters)
        assert parameters == ["base_trial", *rule.parameters, "action_str", "other_trials"]


def test_parameters_go_by_place_or_by_name(trial: Trial) -> None:
    assert fired_steps(AllZero(trial, None, "^w$")) == BAD
    assert fired_steps(AllZero(trial, tensor_regex=["^w$"])) == BAD
    assert fired_steps(AllZero(trial, tensor_regex="^w$, ^other$", threshold=50)) == BAD
    assert fired_steps(VanishingGradient(trial, "1e-6")) == BAD
    assert fired_steps(VanishingGradient(trial, 1e-12)) == []


def test_a_parameter_that_is_misspelt_is_told(trial: Trial) -> None:
    with pytest.raises(TypeError, match=r"has no parameter treshold.*did you mean 'threshold'\?"):
        AllZero(trial, tensor_regex="^w$", treshold=1)


def test_what_was_found_is_told(trial: Trial) -> None:
    rule = AllZero(trial, tensor_regex="^w$")
    assert rule.invoke_at_step(2) is True
    (found,) = rule.findings
    assert (found.step, found.tensor, found.worker) == (2, "w", "worker_0")
    assert found.message
    assert rule.invoke_at_step(3) is False
    assert rule.findings == []


def test_a_class_agrees_with_one_pass_over_the_run(trial: Trial) -> None:
    spec = "UnchangedTensor:tensor_regex=.*:num_steps=2:robust=false"
    (report,) = check(trial, spec)
    rule = UnchangedTensor(trial, None, ".*", 2, robust=False)
    assert fired_steps(rule) == report["fired_steps"] != []


def test_invoke_rule_runs_them(trial: Trial) -> None:
    rule = AllZero(trial, tensor_regex="^w$")
    with logged() as texts, pytest.raises(NoMoreData):
        invoke_rule(rule)
    met = [text for text in texts if "condition being met" in text]
    assert [int(text.split("step ")[1].split()[0]) for text in met] == BAD
    # A second time it begins anew.
    with pytest.raises(RuleEvaluationConditionMet):
        invoke_rule(rule, end_step=3, raise_eval_cond=True)


def test_what_is_not_allowed_is_refused_at_once(trial: Trial) -> None:
    with pytest.raises(InsufficientInformationForRuleInvocation):
        AllZero(trial)
    with pytest.raises(SMDebugValueError):
        VanishingGradient(trial, threshold="tiny")
    with pytest.raises(TypeError):
        VanishingGradient(trial, treshold=1)
    with pytest.raises(TypeError):
        VanishingGradient(trial, 1, threshold=1)
    with pytest.raises(TypeError):
        VanishingGradient(trial, *range(20))


def test_a_rule_can_be_pickled(trial: Trial) -> None:
    rule = pickle.loads(pickle.dumps(AllZero(trial, tensor_regex="^w$")))
    assert fired_steps(rule) == BAD


def test_many_rules_in_one_pass(run: Path) -> None:
    rules = ["VanishingGradient", "AllZero:tensor_regex=^w$", "ExplodingTensor"]
    reports = check(run, rules)
    assert [report["name"] for report in reports] == [
        "VanishingGradient",
        "AllZero",
        "ExplodingTensor",
    ]
    assert [report["fired_steps"] for report in reports] == [BAD, BAD, []]
    assert [report["status"] for report in reports] == [
        "IssuesFound",
        "IssuesFound",
        "NoIssuesFound",
    ]
    assert not (run / "rules").exists()
    assert check(run, rules[0], start_step=3, end_step=5)[0]["fired_steps"] == [4]


OWN_RULE = """
import sys
from smdebug.rules import Rule

class Small(Rule):
    def __init__(self, base_trial, limit: float = 0.5):
        super().__init__(base_trial)
        self.limit = limit

    def invoke_at_step(self, step):
        value = self.base_trial.tensor("w").reduction_value(step, "mean")
        if value < self.limit:
            self.add_finding(f"small, says {sys.executable}", tensor="w", value=value)
        return value < self.limit
"""


def test_a_rule_of_a_file_is_evaluated_by_this_python(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SMDEBUG_PYTHON", raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    (tmp_path / "own.py").write_text(OWN_RULE)
    own = f"{tmp_path / 'own.py'}:Small"
    reports = check(run, [own, f"{own}:limit=4", "VanishingGradient"])
    assert [report["name"] for report in reports] == ["Small", "Small-2", "VanishingGradient"]
    assert [report["fired_steps"] for report in reports] == [BAD, [0, 1, *BAD], BAD]
    found = reports[0]["findings"][0]
    assert (found["tensor"], found["value"]) == ("w", 0.0)
    assert found["message"] == f"small, says {sys.executable}"


def test_a_rule_of_a_file_that_is_not_there_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(SMDebugRuntimeError, match="no such file"):
        check(run, f"{tmp_path}/none.py:Own")


def test_a_check_waits_for_no_run(tmp_path: Path) -> None:
    with pytest.raises(SMDebugRuntimeError, match="nope: no such folder"):
        check(tmp_path / "nope", "VanishingGradient")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SMDebugRuntimeError, match="empty: holds no run"):
        check(str(tmp_path / "empty"), ["VanishingGradient"])


def test_a_check_waits_for_no_other_run(run: Path, tmp_path: Path) -> None:
    with pytest.raises(SMDebugRuntimeError, match="nope: "):
        check(run, "SimilarAcrossRuns", other_trials=[tmp_path / "nope"])


def test_what_is_asked_for_and_not_there_is_no_good_news(run: Path) -> None:
    (report,) = check(run, "ExplodingTensor:collection_names=gradeints:tensor_regex=^w$")
    assert report["status"] == "Error"
    assert "collection gradeints" in report["details"]
    assert "did you mean 'gradients'?" in report["details"]


def test_reports_are_kept_if_that_is_wanted(run: Path) -> None:
    (report,) = check(run, "VanishingGradient", write_reports=True)
    kept = json.loads((run / "rules" / "VanishingGradient.json").read_text())
    assert kept["fired_steps"] == report["fired_steps"]


def test_a_check_refuses_what_is_not_a_rule(run: Path) -> None:
    with pytest.raises(SMDebugValueError):
        check(run, "NoSuchRule")
    with pytest.raises(InsufficientInformationForRuleInvocation):
        check(run, ["VanishingGradient", "AllZero"])


def test_a_rule_gives_what_it_has_to_show(tmp_path: Path) -> None:
    metrics = {"name": "metrics", "include_regex": ["^[^/]+-[^/]+$"]}
    with NativeRun(tmp_path / "run", collections=[metrics]) as made:
        for step in range(STEPS):
            made.save_step({"train-rmse": [1.0 / (step + 1)]})
    rule = builtin.CreateXgboostReport(create_trial(tmp_path / "run"))
    assert fired_steps(rule) == []
    files = rule.files()
    assert sorted(files) == ["xgboost_report.html", "xgboost_report.json"]
    assert "train-rmse" in files["xgboost_report.html"]
    assert rule.files() == {}


def test_steps_with_nothing_but_scalars_are_judged(tmp_path: Path) -> None:
    every_third = {mode.name: {"save_interval": 3} for mode in ModeKeys}
    with NativeRun(tmp_path / "run", save_config=every_third) as made:
        for step in range(STEPS):
            made.save_step({"w": [1.0]}, scalars={"loss": 0.0 if step in BAD else 1.0})
    trial = create_trial(tmp_path / "run")
    assert set(BAD).isdisjoint(trial.steps())
    rule = AllZero(trial, tensor_regex="^scalar/loss$")
    assert fired_steps(rule, end=STEPS - 1) == BAD
    (report,) = check(trial, "AllZero:tensor_regex=^scalar/loss$")
    assert report["fired_steps"] == BAD
