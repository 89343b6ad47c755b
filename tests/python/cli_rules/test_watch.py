"""A running job, judged by rules of files."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_rules.samples import GRADIENT_RULE, LOOPS, LOW_LOSS, WAITS, WriteRule
from support.driver import program
from support.smdebug_program import smdebug, smdebug_json
from support.waiting import LIMIT, wait_until

# Trains ten steps, waits for a word, and trains ten more. With a second argument it does not close
# its run when it is told to end.
JOB = """
import os
import signal
import sys
import torch
import smdebug.pytorch as smd
from torch import nn

if len(sys.argv) > 2:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(3))
torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
loss = nn.MSELoss()
hook = smd.Hook(
    out_dir=sys.argv[1], include_collections=["gradients", "losses"],
    save_config=smd.SaveConfig(save_interval=1),
)
hook.register_module(net)
hook.register_loss(loss)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(20):
    if step == 10:
        print("waiting", flush=True)
        sys.stdin.readline()
    x = torch.randn(8, 4)
    optimizer.zero_grad()
    # From step 5 on there is nothing to learn.
    scale = 1.0 if step < 5 else 0.0
    (scale * loss(net(x), x.sum(1, keepdim=True))).backward()
    optimizer.step()
hook.close()
"""


class Job:
    """A training that waits halfway."""

    def __init__(self, run: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", JOB, str(run), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def await_half(self) -> None:
        assert self.process.stdout
        assert "waiting\n" in self.process.stdout

    def go_on(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@contextlib.contextmanager
def job(run: Path, *words: str) -> Iterator[Job]:
    started = Job(run, *words)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


@contextlib.contextmanager
def watching(run: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    watch = subprocess.Popen(
        [program("smdebug"), "watch", run, "--json", *words], stdout=subprocess.PIPE, text=True
    )
    limit = threading.Timer(LIMIT, watch.kill)
    limit.start()
    try:
        yield watch
    finally:
        limit.cancel()
        watch.kill()
        watch.communicate()


def next_event(watch: subprocess.Popen[str], kind: str) -> dict[str, Any]:
    """The next line of that kind."""
    assert watch.stdout
    for line in watch.stdout:
        event: dict[str, Any] = json.loads(line)
        if event["event"] == kind:
            return event
    raise AssertionError(f"it ended without {kind}")


def await_status(report: Path, status: str, watch: subprocess.Popen[str]) -> None:
    """A finding is told before it is in the report."""
    wait_until(
        lambda: json.loads(report.read_text())["status"] == status, lambda: watch.poll() is None
    )


def test_a_fire_is_told_while_the_job_runs(tmp_path: Path, write_rule: WriteRule) -> None:
    pytest.importorskip("torch")
    run = tmp_path / "run"
    own = f"{write_rule(GRADIENT_RULE)}:VanishingGradientRule:threshold=1e-9"
    with job(run) as training:
        with watching(run, "--rule", own, "--rule", "VanishingGradient") as watch:
            names: set[str] = set()
            while len(names) < 2:
                finding = next_event(watch, "finding")
                names.add(finding["name"])
                assert finding["step"] >= 5
            assert training.process.poll() is None
            await_status(run / "rules/VanishingGradientRule.json", "IssuesFound", watch)
            training.go_on()
            reports = [next_event(watch, "report"), next_event(watch, "report")]
            assert watch.wait(timeout=300) == 1
        assert training.process.wait(timeout=300) == 0
    for report in reports:
        assert report["fired_steps"] == list(range(5, 20))
    # What was told is not told again, and the verdict of a finished run is the same.
    again = smdebug("watch", run, "--json", "--rule", own, code=1)
    (report,) = [json.loads(line) for line in again.splitlines()]
    assert report["fired_steps"] == list(range(5, 20))
    (checked,) = smdebug_json("check", run, "--rule", own, code=1)
    assert checked["fired_steps"] == report["fired_steps"]


@pytest.mark.parametrize("ends_itself", [True, False])
def test_a_fire_stops_the_job(tmp_path: Path, write_rule: WriteRule, ends_itself: bool) -> None:
    pytest.importorskip("torch")
    run = tmp_path / "run"
    own = f"{write_rule(GRADIENT_RULE)}:VanishingGradientRule:threshold=1e-9"
    with job(run, *([] if ends_itself else ["abruptly"])) as training:
        stop = f"stop:{training.process.pid}"
        rules = ["--rule", own, "--rule", "ExplodingTensor"]
        with watching(run, *rules, "--action", stop) as watch:
            assert training.process.wait(timeout=300) == (-signal.SIGTERM if ends_itself else 3)
            action = next_event(watch, "action")
            assert (action["name"], action["outcome"]) == ("VanishingGradientRule", "done")
            reports = [next_event(watch, "report"), next_event(watch, "report")]
            assert watch.wait(timeout=300) == 1
    statuses = [report["status"] for report in reports]
    assert statuses == ["IssuesFound", "NoIssuesFound" if ends_itself else "Stopped"]
    told = json.loads((run / "rules/actions.jsonl").read_text().splitlines()[0])
    assert (told["rule"], told["step"], told["action"]) == ("VanishingGradientRule", 5, "stop")


def test_lines_for_people(run: Path, write_rule: WriteRule) -> None:
    told = smdebug("watch", run, "--rule", f"{write_rule(LOW_LOSS)}:LowLoss:threshold=0.2", code=1)
    assert told.splitlines() == [
        "LowLoss: step 5 (EVAL), loss: the loss is too good (worker_0)",
        "LowLoss  IssuesFound at 1 step",
    ]


PRINTS = """
class Prints(Rule):
    def invoke_at_step(self, step):
        print(f"looked at {step}")
        return step == 5
"""


def screen(written: str) -> list[str]:
    """What a terminal shows after the output: lines are drawn again by going up to the first."""
    lines = [""]
    for part in re.split(r"(\x1b\[\d+A\r\x1b\[J|\r?\n)", written):
        up = re.fullmatch(r"\x1b\[(\d+)A\r\x1b\[J", part)
        if up:
            del lines[len(lines) - 1 - int(up[1]) :]
            lines.append("")
        elif part.endswith("\n"):
            lines.append("")
        else:
            lines[-1] += part
    return lines


def on_a_terminal(*words: object) -> str:
    """What the program writes to a terminal, by both streams."""
    main, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen(
        [str(program("smdebug")), *map(str, words)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=environment,
    ):
        os.close(terminal)
        written = b""
        # Linux ends the reading of a terminal that nobody has open with an error.
        with contextlib.suppress(OSError):
            while part := os.read(main, 65536):
                written += part
    os.close(main)
    return written.decode()


def test_what_a_rule_prints_stands_above_the_view(run: Path, write_rule: WriteRule) -> None:
    written = on_a_terminal("watch", run, "--rule", f"{write_rule(PRINTS)}:Prints")
    assert screen(written) == [
        *(f"looked at {step}" for step in range(6)),
        "6 steps judged, the last is 5",
        "Prints  IssuesFound at 1 step",
        "    step 5 (EVAL): Prints is true at step 5 (worker_0)",
        "",
    ]


def test_a_wrong_rule_is_refused_before_the_run_is_there(
    tmp_path: Path, write_rule: WriteRule
) -> None:
    smdebug("watch", tmp_path / "none", "--rule", f"{write_rule(LOW_LOSS)}:Missing", code=2)


def await_end(pid: int) -> None:
    """Waits until a process that is not a child has ended."""
    try:
        hold = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ready, _, _ = select.select([hold], [], [], 300)
    os.close(hold)
    assert ready, f"process {pid} goes on"


@pytest.fixture
def rule_that_waits(tmp_path: Path, write_rule: WriteRule) -> str:
    os.mkfifo(tmp_path / "never")
    return f"{write_rule(WAITS)}:Waits:folder={tmp_path}"


def await_file(path: Path, process: subprocess.Popen[str]) -> str:
    """The content of a file, as soon as it is there."""
    wait_until(path.exists, lambda: process.poll() is None)
    return path.read_text()


@pytest.mark.parametrize("command", ["watch", "check"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_command(
    run: Path, rule_that_waits: str, command: str, number: signal.Signals, tmp_path: Path
) -> None:
    words = [str(program("smdebug")), command, str(run), "--rule", rule_that_waits]
    # Whoever runs the tests in the background has them ignore Ctrl-C.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(words, text=True, stdout=subprocess.PIPE, preexec_fn=heed) as process:
        pid = int(await_file(tmp_path / "pid", process))
        process.send_signal(number)
        process.communicate(timeout=300)
    caught = command == "watch" and number != signal.SIGKILL
    assert process.returncode == (130 if caught else -number)
    await_end(pid)


def test_the_step_that_was_interrupted_is_told_by_the_next_call(
    run: Path, rule_that_waits: str, tmp_path: Path
) -> None:
    with watching(run, "--rule", rule_that_waits) as watch:
        await_file(tmp_path / "pid", watch)
        watch.send_signal(signal.SIGINT)
        report = next_event(watch, "report")
    assert (report["status"], report["last_step"]) == ("Stopped", 0)
    (tmp_path / "go").touch()
    told = smdebug("watch", run, "--json", "--rule", rule_that_waits, code=1)
    finding, _ = [json.loads(line) for line in told.splitlines()]
    assert finding["message"] == "Waits is true at step 1"


def test_a_rule_that_is_killed_is_an_error(run: Path, rule_that_waits: str, tmp_path: Path) -> None:
    with watching(run, "--rule", rule_that_waits) as watch:
        os.kill(int(await_file(tmp_path / "pid", watch)), signal.SIGKILL)
        report = next_event(watch, "report")
        assert watch.wait(timeout=300) == 2
    assert report["status"] == "Error"
    assert report["details"] == "its Python process has ended by signal 9"


GIVEN_UP = "did not answer at step 1 within 3 s"


@pytest.mark.parametrize("command", ["watch", "check"])
def test_others_go_on_beside_a_rule_that_never_answers(
    run: Path, write_rule: WriteRule, command: str
) -> None:
    file = write_rule(LOOPS + LOW_LOSS)
    words = [str(program("smdebug")), command, str(run), "--rule", f"{file}:Loops"]
    words += ["--rule", f"{file}:LowLoss", "--rule-timeout", "3"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    # A rule that fired is not hidden by one that failed.
    assert done.returncode == 1, done
    assert f"rule Loops {GIVEN_UP}; it is given up, and the others go on" in done.stderr
    kept = {
        name: json.loads((run / f"rules/{name}.json").read_text()) for name in ("Loops", "LowLoss")
    }
    assert (kept["Loops"]["status"], kept["Loops"]["details"]) == ("Error", GIVEN_UP)
    assert kept["LowLoss"]["fired_steps"] == [3, 4, 5]


def test_a_rule_that_never_answers_does_not_keep_a_stop_from_being_done(
    tmp_path: Path, write_rule: WriteRule
) -> None:
    pytest.importorskip("torch")
    run = tmp_path / "run"
    own = f"{write_rule(LOOPS)}:Loops"
    options = ["--rule", own, "--rule", "VanishingGradient", "--action", "stop", "--timeout", "3"]
    with job(run) as training:
        training.await_half()
        with watching(run, *options) as watch:
            assert next_event(watch, "action")["outcome"] == "done"
            loops = next_event(watch, "report")
            assert watch.wait(timeout=LIMIT) == 1
        assert training.process.wait(timeout=LIMIT) != 0
    assert (loops["status"], loops["details"]) == ("Error", GIVEN_UP)


def test_the_timeout_holds_whatever_a_rule_does(tmp_path: Path, write_rule: WriteRule) -> None:
    pytest.importorskip("torch")
    run = tmp_path / "run"
    with job(run) as training:
        training.await_half()
        with watching(run, "--rule", f"{write_rule(LOOPS)}:Loops", "--timeout", "3") as watch:
            loops = next_event(watch, "report")
            assert watch.wait(timeout=LIMIT) == 2
        assert training.process.poll() is None
    assert (loops["status"], loops["details"]) == ("Error", GIVEN_UP)
