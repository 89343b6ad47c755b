"""A training that goes wrong, is killed, and is run again in the same folder."""

from __future__ import annotations

import signal
from pathlib import Path

from smdebug.trials import create_trial
from support.scripts import RunScript

# The loss is NaN from step 5 on.
TRAIN = """
from smdebug.exceptions import RuleEvaluationConditionMet
hook = make_hook(save_all=True, rules=["ExplodingTensor"], stop_on_rule={stop})
net = nn.Linear(2, 1)
hook.register_module(net)
try:
    for step in range(10_000):
        x = torch.ones(1, 2) * (float("nan") if step >= 5 else 1)
        net(x).sum().backward()
        {each}
except RuleEvaluationConditionMet as fired:
    print("stopped", fired.rule_name, fired.step)
    hook.close()
"""


def test_the_rule_stops_the_second_training_too(run_script: RunScript, run_dir: Path) -> None:
    # The rule has told of step 5 when the first one is killed.
    kill = "if hook.rule_fired: os.kill(os.getpid(), 9)"
    killed = run_script(TRAIN.format(stop=False, each=kill))
    assert killed.returncode == -signal.SIGKILL, killed.stdout
    assert (run_dir / "rules" / "ExplodingTensor.json").exists()
    again = run_script(TRAIN.format(stop=True, each=""))
    assert "stopped ExplodingTensor 5" in again.stdout
    assert create_trial(run_dir).run_info().state == "failed"
    assert (run_dir / "previous" / "1" / "rules" / "ExplodingTensor.json").exists()


def test_a_training_killed_before_is_stopped_where_it_goes_wrong(
    run_script: RunScript, run_dir: Path
) -> None:
    killed = run_script(TRAIN.format(stop=True, each="if step == 3: os.kill(os.getpid(), 9)"))
    assert killed.returncode == -signal.SIGKILL, killed.stdout
    again = run_script(TRAIN.format(stop=True, each=""))
    assert "stopped ExplodingTensor 5" in again.stdout
    assert create_trial(run_dir).run_info().state == "failed"
