"""What the public documents show of rules, and of what a job saves for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from documents.conftest import Configure  # noqa: E402
from documents.custom_gradient_rule import CustomGradientRule  # noqa: E402
from smdebug.exceptions import RuleEvaluationConditionMet  # noqa: E402
from smdebug.rules import check  # noqa: E402
from smdebug.rules.rule_invoker import invoke_rule  # noqa: E402
from smdebug.rulesconfig import vanishing_gradient, weight_update_ratio  # noqa: E402
from smdebug.trials import create_trial  # noqa: E402
from support.torch_nets import Net, fit  # noqa: E402

SOURCE = Path(__file__).with_name("custom_gradient_rule.py")


def name_of(rule: dict[str, Any]) -> str:
    name: str = rule["DebugRuleConfiguration"]["RuleConfigurationName"]
    return name


def run_for(configure: Configure, *rules: dict[str, Any], steps: int = 1) -> str:
    """The run of a job that saves what its rules need."""
    collections = [c for rule in rules for c in rule["CollectionConfigurations"]]
    hook = smd.Hook.create_from_json_file(configure(CollectionConfigurations=collections))
    fit(hook, Net(), steps)
    hook.close()
    return hook.out_dir


def statuses(run: str, *rules: str) -> dict[str, str]:
    reports = check(run, list(rules))
    return {report["rule"].partition(":")[0]: report["status"] for report in reports}


def test_003_line_217_one_built_in_rule(configure: Configure) -> None:
    rule = vanishing_gradient()
    run = run_for(configure, rule)
    assert create_trial(run).tensor_names(collection="gradients")
    assert statuses(run, name_of(rule)) == {"VanishingGradient": "NoIssuesFound"}
    assert statuses(run, "VanishingGradient:threshold=1e9") == {"VanishingGradient": "IssuesFound"}


def test_003_line_234_two_built_in_rules(configure: Configure) -> None:
    rules = (vanishing_gradient(), weight_update_ratio())
    run = run_for(configure, *rules, steps=501)
    trial = create_trial(run)
    assert trial.steps() == [0, 500]
    for collection in ("gradients", "weights"):
        assert trial.tensor_names(collection=collection)
    found = statuses(run, *map(name_of, rules))
    assert set(found) == {"VanishingGradient", "WeightUpdateRatio"}
    assert "Error" not in found.values()


def test_003_line_253_a_built_in_rule_with_a_collection_of_ones_own(configure: Configure) -> None:
    customized = {
        **weight_update_ratio(),
        "CollectionConfigurations": [
            {
                "CollectionName": "custom_collection_name",
                "CollectionParameters": {"include_regex": "fc.weight$", "save_interval": "2"},
            }
        ],
    }
    run = run_for(configure, vanishing_gradient(), customized, steps=4)
    trial = create_trial(run)
    members = trial.tensor_names(collection="custom_collection_name")
    assert "Net_fc.weight" in members
    assert trial.tensor("Net_fc.weight").steps() == [0, 2]
    found = statuses(run, "VanishingGradient", "WeightUpdateRatio:large_threshold=1e-9")
    assert found["VanishingGradient"] == "NoIssuesFound"
    assert found["WeightUpdateRatio"] == "IssuesFound"


@pytest.mark.parametrize("by", ["path", "class"])
def test_003_line_306_a_custom_rule(by: str, configure: Configure) -> None:
    gradients = {"CollectionConfigurations": [{"CollectionName": "gradients"}]}
    run = run_for(configure, gradients)
    if by == "path":
        rule = f"{SOURCE}:CustomGradientRule"
        high, low = (check(run, f"{rule}:threshold={text}") for text in ("20.0", "0"))
        assert [report["status"] for report in (*high, *low)] == ["IssuesFound", "NoIssuesFound"]
        return
    trial = create_trial(run)
    assert CustomGradientRule(trial, threshold="20.0").invoke_at_step(0)  # type: ignore[arg-type]
    with pytest.raises(RuleEvaluationConditionMet):
        invoke_rule(CustomGradientRule(trial, threshold=20.0), raise_eval_cond=True)
    invoke_rule(CustomGradientRule(trial, threshold=0.0), end_step=1, raise_eval_cond=True)
