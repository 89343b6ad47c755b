"""Rules that judge a training from inside the hook."""

from __future__ import annotations

import pytest
from smdebug.exceptions import RuleEvaluationConditionMet
from support.xgboost_hooks import MakeHook, train


def test_a_rule_fires_and_the_training_goes_on(make_hook: MakeHook) -> None:
    hook = make_hook(include_collections=["losses"], rules="LossNotDecreasing:num_steps=3")
    booster = train(hook, rounds=30, eta=0.0)
    hook.close()
    assert booster.num_boosted_rounds() == 30
    assert hook.rule_fired
    (report,) = hook.rule_reports
    assert report["name"] == "LossNotDecreasing"
    assert report["findings"][0]["tensor"] == "train-logloss"


def test_a_healthy_training_fires_nothing(make_hook: MakeHook) -> None:
    hook = make_hook(
        include_collections=["losses", "trees"], rules=["LossNotDecreasing", "TreeDepth:depth=4"]
    )
    train(hook, rounds=20)
    hook.close()
    assert not hook.rule_fired


def test_a_rule_of_trees(make_hook: MakeHook) -> None:
    hook = make_hook(include_collections=["trees"], rules="TreeDepth:depth=2")
    train(hook, rounds=5, max_depth=6)
    hook.close()
    assert hook.rule_fired


def test_a_rule_may_stop_the_training(make_hook: MakeHook) -> None:
    hook = make_hook(
        include_collections=["losses"], rules="LossNotDecreasing:num_steps=3", stop_on_rule=True
    )
    with pytest.raises(RuleEvaluationConditionMet):
        train(hook, rounds=100_000, eta=0.0)
