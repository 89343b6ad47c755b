"""A finished run, judged by rules of files."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from cli_rules.samples import GRADIENT_RULE, LOW_LOSS, WriteRule
from support.native_run import NativeRun, make_run
from support.smdebug_program import smdebug, smdebug_json


@pytest.fixture
def gradient_run(tmp_path: Path) -> Path:
    """Five steps, whose one gradient is the step to the power of two."""
    gradients = {"name": "gradients", "include_regex": ["gradient/"]}
    with NativeRun(tmp_path / "gradients", collections=[gradients]) as made:
        for step in range(5):
            made.save_step({"gradient/w": np.full(3, float(step**2))})
    return tmp_path / "gradients"


def test_a_rule_of_smdebug_1_0_runs_as_it_is(gradient_run: Path, write_rule: WriteRule) -> None:
    rule = f"{write_rule(GRADIENT_RULE)}:CustomGradientRule:threshold=5"
    (report,) = smdebug_json("check", gradient_run, "--rule", rule, code=1)
    assert report["name"] == "CustomGradientRule"
    assert report["rule"] == rule
    assert report["status"] == "IssuesFound"
    assert report["fired_steps"] == [3, 4]
    assert report["findings_total"] == 2
    assert report["steps_judged"] == 5
    assert report["ended"] is True
    assert report["findings"][0] == {
        "step": 3,
        "mode": "GLOBAL",
        "tensor": "",
        "worker": "worker_0",
        "value": 0.0,
        "threshold": 0.0,
        "message": "CustomGradientRule is true at step 3",
    }


def test_required_tensors_and_the_default_of_smdebug_1_0(
    gradient_run: Path, write_rule: WriteRule
) -> None:
    rule = f"{write_rule(GRADIENT_RULE)}:VanishingGradientRule"
    (report,) = smdebug_json("check", gradient_run, "--rule", rule, code=1)
    assert report["fired_steps"] == [0]


def test_a_rule_that_does_not_fire(run: Path, write_rule: WriteRule) -> None:
    rule = f"{write_rule(LOW_LOSS)}:LowLoss:threshold=0.1"
    text = smdebug("check", run, "--rule", rule)
    assert text == "LowLoss  NoIssuesFound\n"


def test_findings_carry_the_evidence_that_the_rule_gives(run: Path, write_rule: WriteRule) -> None:
    (report,) = smdebug_json("check", run, "--rule", f"{write_rule(LOW_LOSS)}:LowLoss", code=1)
    finding = report["findings"][0]
    assert (finding["step"], finding["mode"], finding["tensor"]) == (3, "TRAIN", "loss")
    assert (finding["value"], finding["threshold"]) == (0.25, 0.3)
    assert finding["message"] == report["details"] == "the loss is too good"


def test_rules_of_both_languages_in_one_call(
    run: Path, write_rule: WriteRule, tmp_path: Path
) -> None:
    own = f"{write_rule(LOW_LOSS)}:LowLoss"
    given = ["AllZero:tensor_regex=^fc", own, "ExplodingTensor", own + '{"threshold": 0.1}']
    words = [word for rule in given for word in ("--rule", rule)]
    reports = smdebug_json("check", run, *words, "--junit", tmp_path / "junit.xml", code=1)
    told = [(report["name"], report["fired_steps"]) for report in reports]
    assert told == [
        ("AllZero", [0]),
        ("LowLoss", [3, 4, 5]),
        ("ExplodingTensor", []),
        ("LowLoss-2", []),
    ]
    cases = ET.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    failed = {case.get("name"): case.find("failure") is not None for case in cases}
    assert failed == {
        "AllZero": True,
        "LowLoss": True,
        "ExplodingTensor": False,
        "LowLoss-2": False,
    }
    kept = json.loads((run / "rules/LowLoss.json").read_text())
    assert kept["fired_steps"] == [3, 4, 5]


def test_steps_modes_and_what_a_rule_prints(run: Path, write_rule: WriteRule) -> None:
    rule = write_rule("""
class Says(Rule):
    def invoke_at_step(self, step):
        print("step", step)
        self.logger.error("logged")
        return step % 2 == 0
""")
    options = ["--start-step", "1", "--end-step", "5"]
    (report,) = smdebug_json("check", run, "--rule", f"{rule}:Says", *options, code=1)
    assert report["fired_steps"] == [2, 4]
    assert [finding["mode"] for finding in report["findings"]] == ["EVAL", "TRAIN"]


def test_parameters_have_the_types_that_the_constructor_names(
    run: Path, write_rule: WriteRule
) -> None:
    rule = write_rule("""
from typing import Optional


class Typed(Rule):
    def __init__(self, base_trial, text, whole: int, maybe: Optional[float] = None,
                 quoted: "int | None" = None, flag=False, number=1.0, loose=1, names="a"):
        super().__init__(base_trial)
        self.told = repr([text, whole, maybe, quoted, flag, number, loose, names])

    def invoke_at_step(self, step):
        self.add_finding(self.told)
        return True
""")
    given = "text=1:whole=2:maybe=3:quoted=4:flag=true:number=5:loose=0.5:names=b,c"
    (report,) = smdebug_json("check", run, "--rule", f"{rule}:Typed:{given}", code=1)
    assert report["details"] == "['1', 2, 3.0, 4, True, 5.0, 0.5, 'b,c']"
    (report,) = smdebug_json("check", run, "--rule", f"{rule}:Typed:text=x:whole=1", code=1)
    assert report["details"] == "['x', 1, None, None, False, 1.0, 1, 'a']"


def test_parameters_of_any_name(run: Path, write_rule: WriteRule) -> None:
    rule = write_rule("""
class Any(Rule):
    def __init__(self, base_trial, **given):
        super().__init__(base_trial)
        self.given = given

    def invoke_at_step(self, step):
        return self.given == {"a": "1", "b": "2"}
""")
    smdebug("check", run, "--rule", f"{rule}:Any:a=1:b=2", code=1)


def test_other_trials(run: Path, write_rule: WriteRule, tmp_path: Path) -> None:
    other = make_run(tmp_path / "other", steps=2)
    rule = write_rule("""
class Longer(Rule):
    def __init__(self, base_trial, other_trials):
        super().__init__(base_trial, "", other_trials)

    def invoke_at_step(self, step):
        (other,) = self.other_trials
        return step not in other.steps()
""")
    options = ["--rule", f"{rule}:Longer"]
    (report,) = smdebug_json("check", run, *options, "--other-trial", other, code=1)
    assert report["fired_steps"] == [2, 3, 4, 5]
    (report,) = smdebug_json(
        "check", run, "--rule", f"{rule}:Longer:other_trials={other}:start_step=4", code=1
    )
    assert report["fired_steps"] == [4, 5]


def test_a_rule_may_end_itself(run: Path, write_rule: WriteRule) -> None:
    rule = write_rule("""
from smdebug.exceptions import RuleEvaluationConditionMet


class Once(Rule):
    def invoke_at_step(self, step):
        if step == 2:
            raise RuleEvaluationConditionMet(self.rule_name, step, end_of_rule=True)
        return step > 2
""")
    (report,) = smdebug_json("check", run, "--rule", f"{rule}:Once", code=1)
    assert report["fired_steps"] == [2]


def test_a_built_in_rule_by_way_of_python(run: Path, write_rule: WriteRule) -> None:
    rule = write_rule("from smdebug.rules.builtin import AllZero")
    (report,) = smdebug_json("check", run, "--rule", f"{rule}:AllZero:tensor_regex=^fc", code=1)
    assert report["findings"][0]["tensor"] == "fc.weight"


def test_a_configuration_file_names_the_source(
    run: Path, write_rule: WriteRule, tmp_path: Path
) -> None:
    parameters = {
        "source_s3_uri": str(write_rule(LOW_LOSS)),
        "rule_to_invoke": "LowLoss",
        "threshold": "0.2",
    }
    rules = [{"RuleConfigurationName": "mine", "RuleParameters": parameters}]
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    (report,) = smdebug_json("check", run, "--config", tmp_path / "rules.json", code=1)
    assert (report["name"], report["fired_steps"]) == ("mine", [5])
