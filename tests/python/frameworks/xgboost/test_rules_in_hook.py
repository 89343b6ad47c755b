"""Rules that judge a training from inside the hook."""

from __future__ import annotations

import pytest
from smdebug.exceptions import RuleEvaluationConditionMet
from support.log import logged
from support.xgboost_hooks import MakeHook, ReadRun, train


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


def test_what_a_rule_needs_is_saved_for_it(make_hook: MakeHook, read_run: ReadRun) -> None:
    with logged() as texts:
        hook = make_hook(
            save_config=None, rules=["TreeDepth:depth=2", "FeatureImportanceOverweight"]
        )
        train(hook, rounds=21, max_depth=6)
        hook.close()
    assert [text for text in texts if text.startswith("Saved for rules, too: ")] == [
        "Saved for rules, too: trees (TreeDepth), "
        "feature_importance every 500 steps (FeatureImportanceOverweight)"
    ]
    trial = read_run()
    assert trial.tensor("trees/Gain").steps() == [0, 10, 20]
    assert trial.tensor("feature_importance/weight/radius").steps() == [0]
    assert hook.rule_fired


def test_a_rule_of_another_framework_says_what_it_lacks(make_hook: MakeHook) -> None:
    with logged() as texts:
        hook = make_hook(rules="VanishingGradient")
        train(hook, rounds=2)
        hook.close()
    assert not [text for text in texts if "Saved for rules" in text or "takes nothing" in text]
    assert [report["status"] for report in hook.rule_reports] == ["Error"]
