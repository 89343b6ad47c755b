"""Rules that judge a training from inside the hook."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
import smdebug.pytorch as smd
import torch
from smdebug.exceptions import (
    InsufficientInformationForRuleInvocation,
    RuleEvaluationConditionMet,
    SMDebugValueError,
)
from smdebug.trials import create_trial
from support.log import logged
from support.torch_hooks import MakeHook
from support.torch_nets import Net

STEPS = 12
BAD_STEP = 5


def train(net: torch.nn.Module, steps: int = STEPS, bad_step: int | None = None) -> list[float]:
    """The losses. At `bad_step` a weight becomes NaN."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    draw = torch.Generator().manual_seed(1)
    losses = []
    for step in range(steps):
        if step == bad_step:
            with torch.no_grad():
                next(net.parameters()).view(-1)[0] = float("nan")
        optimizer.zero_grad()
        loss = net(torch.randn(8, 4, generator=draw)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def watched(make_hook: MakeHook, **kwargs: Any) -> tuple[Net, smd.Hook]:
    net = Net()
    hook = make_hook(include_collections=["weights", "gradients", "losses"], **kwargs)
    hook.register_module(net)
    return net, hook


def test_a_nan_is_found_and_training_goes_on(make_hook: MakeHook, run_dir: Path) -> None:
    with logged() as texts:
        net, hook = watched(make_hook, rules=["ExplodingTensor"])
        assert not hook.rule_fired
        assert len(train(net, bad_step=BAD_STEP)) == STEPS
        hook.close()
    assert hook.rule_fired
    (report,) = hook.rule_reports
    assert (report["name"], report["status"]) == ("ExplodingTensor", "IssuesFound")
    assert report["fired_steps"][0] == BAD_STEP
    assert report["steps_judged"] == STEPS
    assert any(f"Rule ExplodingTensor fired at step {BAD_STEP}" in text for text in texts)
    kept = json.loads((run_dir / "rules" / "ExplodingTensor.json").read_text())
    assert kept["status"] == "IssuesFound"
    assert kept["fired_steps"] == report["fired_steps"]


def test_a_healthy_training_is_found_healthy(make_hook: MakeHook, run_dir: Path) -> None:
    net, hook = watched(make_hook, rules="ExplodingTensor")
    train(net)
    hook.close()
    assert not hook.rule_fired
    assert [report["status"] for report in hook.rule_reports] == ["NoIssuesFound"]
    assert (run_dir / "rules" / "ExplodingTensor.json").exists()


def test_training_ends_at_the_next_forward_pass_if_that_is_wanted(make_hook: MakeHook) -> None:
    net, hook = watched(make_hook, rules=["ExplodingTensor"], stop_on_rule=True)
    with pytest.raises(RuleEvaluationConditionMet) as fired:
        train(net, steps=10_000, bad_step=BAD_STEP)
    assert (fired.value.rule_name, fired.value.step) == ("ExplodingTensor", BAD_STEP)
    assert hook.step >= BAD_STEP
    hook.close()
    assert hook.rule_fired


def test_a_job_that_a_rule_was_to_stop_has_failed(make_hook: MakeHook, run_dir: Path) -> None:
    net, hook = watched(make_hook, rules=["ExplodingTensor"], stop_on_rule=True)
    with pytest.raises(RuleEvaluationConditionMet):
        train(net, steps=10_000, bad_step=BAD_STEP)
    hook.close()
    info = create_trial(run_dir).run_info()
    assert (info.state, info.reason) == ("failed", f"rule ExplodingTensor fired at step {BAD_STEP}")


def test_a_job_has_failed_if_the_rule_fires_while_it_closes(
    make_hook: MakeHook, run_dir: Path
) -> None:
    net, hook = watched(make_hook, rules=["ExplodingTensor"], stop_on_rule=True)
    train(net, steps=BAD_STEP + 1, bad_step=BAD_STEP)
    hook.close()
    info = create_trial(run_dir).run_info()
    assert (info.state, info.reason) == ("failed", f"rule ExplodingTensor fired at step {BAD_STEP}")


def test_a_job_that_goes_on_after_a_rule_has_finished(make_hook: MakeHook, run_dir: Path) -> None:
    net, hook = watched(make_hook, rules=["ExplodingTensor"])
    train(net, bad_step=BAD_STEP)
    hook.close()
    assert hook.rule_fired
    assert create_trial(run_dir).run_info().state == "finished"


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ("NoSuchRule", SMDebugValueError),
        ("ExplodingTensor:threshold=3", SMDebugValueError),
        ("VanishingGradient:threshold=tiny", SMDebugValueError),
        ('ExplodingTensor{"action_json": "{}"}', SMDebugValueError),
        ("AllZero", InsufficientInformationForRuleInvocation),
    ],
)
def test_a_bad_rule_is_refused_at_once(
    rule: str, error: type[Exception], run_dir: Path, make_hook: MakeHook
) -> None:
    with pytest.raises(error):
        make_hook(rules=["ExplodingTensor", rule])
    assert not run_dir.exists()


def test_the_same_rule_twice_has_two_reports(make_hook: MakeHook, run_dir: Path) -> None:
    net, hook = watched(
        make_hook, rules=["VanishingGradient", "VanishingGradient:threshold=1000000"]
    )
    train(net)
    hook.close()
    first, second = hook.rule_reports
    assert (first["name"], second["name"]) == ("VanishingGradient", "VanishingGradient-2")
    assert (first["status"], second["status"]) == ("NoIssuesFound", "IssuesFound")
    assert (run_dir / "rules" / "VanishingGradient-2.json").exists()


def test_training_is_bit_for_bit_the_same(make_hook: MakeHook) -> None:
    torch.manual_seed(3)
    alone = Net()
    without = train(alone, steps=100)
    torch.manual_seed(3)
    net, hook = watched(
        make_hook, rules=["ExplodingTensor", "VanishingGradient", "LossNotDecreasing"]
    )
    assert train(net, steps=100) == without
    hook.close()
    for mine, other in zip(net.parameters(), alone.parameters()):
        assert torch.equal(mine, other)
    assert [report["steps_judged"] for report in hook.rule_reports] == [100] * 3


SAVED_FOR_RULES = "Saved for rules, too: "


def test_what_a_rule_needs_is_saved_for_it(make_hook: MakeHook, run_dir: Path) -> None:
    net = Net()
    with logged() as texts:
        hook = make_hook(rules=["VanishingGradient", "ExplodingTensor"])
        hook.register_module(net)
        train(net, steps=501)
        hook.close()
    assert [text for text in texts if text.startswith(SAVED_FOR_RULES)] == [
        f"{SAVED_FOR_RULES}gradients every 500 steps (VanishingGradient)"
    ]
    trial = create_trial(run_dir)
    names = trial.tensor_names(collection="gradients")
    assert len(names) == len(list(net.parameters()))
    assert all(trial.tensor(name).steps() == [0, 500] for name in names)
    assert [report["status"] for report in hook.rule_reports] == ["NoIssuesFound"] * 2
    assert "gradients" in hook.include_collections


@pytest.mark.parametrize("early", [False, True])
def test_what_the_script_has_configured_counts(
    early: bool, make_hook: MakeHook, run_dir: Path
) -> None:
    net = Net()
    with logged() as texts:
        hook = make_hook(rules="VanishingGradient")
        if early:
            hook.save_scalar("s", 1)
        hook.get_collection("gradients").save_config = smd.SaveConfig(save_interval=5)
        hook.register_module(net)
        train(net)
        hook.close()
    trial = create_trial(run_dir)
    assert trial.tensor("gradient/Net_fc.weight").steps() == [0, 5, 10]
    assert len([text for text in texts if text.startswith(SAVED_FOR_RULES)]) == 1


def test_what_is_saved_anyway_is_left_alone(make_hook: MakeHook, run_dir: Path) -> None:
    with logged() as texts:
        net, hook = watched(make_hook, rules=["VanishingGradient", "LossNotDecreasing"])
        train(net)
        hook.close()
    assert create_trial(run_dir).tensor("gradient/Net_fc.weight").steps() == list(range(STEPS))
    assert not [text for text in texts if text.startswith(SAVED_FOR_RULES)]


@pytest.mark.usefixtures("make_hook")
def test_what_a_rule_needs_beside_a_configuration_file(tmp_path: Path, run_dir: Path) -> None:
    configured = {"CollectionName": "gradients", "CollectionParameters": {"save_interval": "4"}}
    path = tmp_path / "hook.json"
    path.write_text(
        json.dumps({"LocalPath": str(run_dir), "CollectionConfigurations": [configured]})
    )
    hook = smd.Hook.create_from_json_file(str(path))
    hook.rules = ["VanishingGradient", "WeightUpdateRatio"]
    net = Net()
    hook.register_module(net)
    train(net)
    hook.close()
    trial = create_trial(run_dir)
    assert trial.tensor("gradient/Net_fc.weight").steps() == [0, 4, 8]
    assert trial.tensor("Net_fc.weight").steps() == [0]


# In a Sequential, a ReLU has a number for a name.
def test_a_rule_finds_what_it_looks_at_by_its_class(make_hook: MakeHook, run_dir: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    with torch.no_grad():
        net[0].bias.fill_(-100)
    hook = make_hook(rules=["DeadRelu"])
    hook.register_module(net)
    train(net, steps=3)
    hook.close()
    assert create_trial(run_dir).tensor_names(collection="relu_output") == ["1_output_0"]
    (report,) = hook.rule_reports
    assert (report["status"], report["findings"][0]["tensor"]) == ("IssuesFound", "1_output_0")


def test_a_failure_in_asking_for_verdicts_does_not_reach_the_training(
    make_hook: MakeHook,
) -> None:
    class Broken:
        def raise_if_fired(self) -> None:
            raise OSError("broken")

    net, hook = watched(make_hook, rules=["ExplodingTensor"], stop_on_rule=True)
    train(net, steps=2)
    hook._guard = Broken()  # type: ignore[assignment]
    with logged() as texts:
        assert len(train(net, steps=2)) == 2
    assert hook.stats["errors"] + hook.stats["skipped"] > 0
    assert len([text for text in texts if "broken" in text]) == 1
    hook._guard = None
    hook.close()


def _train_as_child(net: Net, results: Any) -> None:
    hook = smd.get_hook()
    assert hook is not None
    results.put((len(train(net, bad_step=2)), hook.rule_fired))


def test_a_forked_child_is_not_judged(make_hook: MakeHook) -> None:
    net, hook = watched(make_hook, rules=["ExplodingTensor"], stop_on_rule=True)
    train(net, steps=3)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_train_as_child, args=(net, results))
    child.start()
    assert results.get(timeout=120) == (STEPS, False)
    child.join()
    assert child.exitcode == 0
    train(net, steps=3)
    hook.close()
    assert not hook.rule_fired
    assert hook.rule_reports[0]["steps_judged"] == 6
