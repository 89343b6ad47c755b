"""A script that reads its run before it closes the hook sees every step that has ended."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from smdebug.rules import Rule, check, invoke_rule  # noqa: E402
from smdebug.trials import Trial  # noqa: E402
from support.smdebug_program import smdebug_json  # noqa: E402

pytestmark = pytest.mark.usefixtures("no_torch_hook")

STEPS = 5  # Of which the last has not ended: the next has not begun.


def train(hook: smd.Hook, steps: int = STEPS) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(300, 300), torch.nn.Linear(300, 300))
    hook.register_module(net)
    for _ in range(steps):
        net(torch.ones(8, 300)).sum().backward()


def make_hook(run: Path) -> smd.Hook:
    return smd.Hook(str(run), save_all=True, save_config=smd.SaveConfig(save_interval=1))


def test_every_trial_has_every_step(tmp_path: Path) -> None:
    for i in range(20):
        run = tmp_path / str(i)
        hook = make_hook(run)
        train(hook)
        assert smd.create_trial(str(run)).steps() == [0, 1, 2, 3]
        hook.end_step()
        assert smd.create_trial(str(run)).steps() == [0, 1, 2, 3, 4]
        hook.close()
        smd.del_hook()


def test_a_trial_opens_while_the_first_step_goes_on(tmp_path: Path) -> None:
    hook = make_hook(tmp_path / "run")
    train(hook, 1)
    trial = smd.create_trial(str(tmp_path / "run"))
    assert trial.steps() == []
    assert "gradients" in trial.collections()
    hook.end_step()
    assert trial.steps() == [0]


def test_a_trial_that_was_there_before_catches_up(tmp_path: Path) -> None:
    hook = make_hook(tmp_path / "run")
    train(hook, 2)
    hook.end_step()
    trial = smd.create_trial(str(tmp_path / "run"))
    for end in range(3, 20):
        train(hook, 1)
        hook.end_step()
        assert trial.steps() == list(range(end))
        assert trial.tensor("Sequential_output_0").value(end - 1).shape == (8, 300)


def test_another_thread_reads_while_the_hook_trains(tmp_path: Path) -> None:
    hook = make_hook(tmp_path / "run")
    train(hook, 1)
    hook.end_step()
    seen: list[list[int]] = []
    ended = threading.Event()

    def read() -> None:
        trial = smd.create_trial(str(tmp_path / "run"))
        while not ended.is_set():
            seen.append(trial.steps())
        seen.append(trial.steps())

    reader = threading.Thread(target=read)
    reader.start()
    train(hook, 50)
    hook.end_step()
    ended.set()
    reader.join(timeout=60)
    assert seen[-1] == list(range(51))
    assert all(steps == list(range(len(steps))) for steps in seen)


def test_a_program_that_the_script_starts_sees_them(tmp_path: Path) -> None:
    hook = make_hook(tmp_path / "run")
    train(hook)
    read = "import sys, smdebug.trials; print(smdebug.trials.create_trial(sys.argv[1]).steps())"
    run = str(tmp_path / "run")
    for _ in range(5):
        train(hook)
        hook.end_step()
        last = hook.step
        told = subprocess.check_output([sys.executable, "-c", read, run], text=True)
        assert json.loads(told) == list(range(last + 1))
        status = smdebug_json("status", run)
        assert status["state"] == "running"
        assert status["last_step"] == last


Queue = Any  # Of multiprocessing: its type depends on how children are started.


def _read_when_told(run: str, trial: Trial, orders: Queue, answers: Queue) -> None:
    while orders.get() is not None:
        (report,) = check(run, "ExplodingTensor")
        answers.put((smd.create_trial(run).steps(), trial.steps(), report["steps_judged"]))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_child_of_the_writer_sees_them(start: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)  # PyTorch's own threads do not outlive a fork.
    run = str(tmp_path / "run")
    hook = make_hook(tmp_path / "run")
    train(hook, 2)
    hook.end_step()
    context: Any = multiprocessing.get_context(start)
    orders, answers = context.Queue(), context.Queue()
    # The child has a trial that was opened before, and opens others.
    arguments = (run, smd.create_trial(run), orders, answers)
    child = context.Process(target=_read_when_told, args=arguments)
    child.start()
    for end in (5, 8):
        train(hook, 3)
        hook.end_step()
        orders.put(True)
        steps = list(range(end))
        assert answers.get(timeout=120) == (steps, steps, end)
    orders.put(None)
    child.join(timeout=120)
    assert child.exitcode == 0
    hook.close()


class CountSteps(Rule):
    """Judges four steps, and is happy with them."""

    def __init__(self, base_trial: Trial) -> None:
        super().__init__(base_trial)
        self.steps: list[int] = []

    def invoke_at_step(self, step: int) -> bool:
        self.steps.append(step)
        return step == 3


def test_a_rule_judges_them(tmp_path: Path) -> None:
    hook = make_hook(tmp_path / "run")
    train(hook)
    rule = CountSteps(smd.create_trial(str(tmp_path / "run")))
    invoke_rule(rule, start_step=0, end_step=4)
    assert rule.steps == [0, 1, 2, 3]
