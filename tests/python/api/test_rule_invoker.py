"""`python -m smdebug.rules.rule_invoker`, as users call it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.native_run import make_run

OWN_RULE = """
from smdebug.rules import Rule

class LowLoss(Rule):
    def __init__(self, base_trial, threshold, other_trials=None):
        super().__init__(base_trial, other_trials=other_trials)
        assert isinstance(threshold, str)
        self.threshold = float(threshold)

    def invoke_at_step(self, step):
        return self.base_trial.tensor("loss").reduction_value(step, "mean") < self.threshold
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", steps=6)


@pytest.fixture
def own_rule(tmp_path: Path) -> str:
    (tmp_path / "own.py").write_text(OWN_RULE)
    return f"{tmp_path / 'own.py'}:LowLoss"


def call(run: Path, rule: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "smdebug.rules.rule_invoker"]
    return subprocess.run(
        [*command, "--trial-dir", str(run), "--rule-name", rule, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_built_in_rule_in_any_letter_case(run: Path) -> None:
    done = call(run, "allzero", "--tensor_regex", "^fc", "--json")
    assert done.returncode == 1, done.stderr
    assert "RuntimeWarning" not in done.stderr
    *findings, report = lines(done)
    assert report["name"] == "AllZero"
    assert report["status"] == "IssuesFound"
    assert report["fired_steps"] == [finding["step"] for finding in findings]
    assert 0 in report["fired_steps"]


def test_a_rule_that_finds_nothing(run: Path) -> None:
    done = call(run, "ExplodingTensor")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ExplodingTensor  NoIssuesFound")


def test_a_rule_of_a_file(run: Path, own_rule: str) -> None:
    done = call(run, own_rule, "--threshold", "0.3", "--json")
    assert done.returncode == 1, done.stderr
    assert lines(done)[-1]["fired_steps"] == [3, 4, 5]
    done = call(run, own_rule, "--threshold=0.3", "--start-step", "1", "--end-step", "5", "--json")
    assert lines(done)[-1]["fired_steps"] == [3, 4]


def test_a_fire_may_be_raised(run: Path, own_rule: str) -> None:
    words = ["--threshold", "0.3", "--raise-rule-eval-cond-exception", "true"]
    done = call(run, own_rule, *words)
    assert done.returncode == 1
    assert "RuleEvaluationConditionMet" in done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "needs a value of threshold"),
        (["--threshold", "1", "--other", "2"], "has no parameter other"),
        (["--treshold", "1"], "it has threshold; did you mean 'threshold'?"),
    ],
)
def test_wrong_parameters_are_refused(words: list[str], why: str, run: Path, own_rule: str) -> None:
    done = call(run, own_rule, *words)
    assert done.returncode != 0
    assert "ValueError" in done.stderr
    assert why in done.stderr


def test_an_unknown_rule_is_refused(run: Path, tmp_path: Path) -> None:
    assert "ValueError: 'NoSuchRule'" in call(run, "NoSuchRule").stderr
    assert "no such file" in call(run, f"{tmp_path / 'none.py'}:Own").stderr
