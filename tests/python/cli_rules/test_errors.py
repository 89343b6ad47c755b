"""What can be wrong with a rule of a file, and how it is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_rules.samples import LOW_LOSS, WriteRule
from smdebug.rules.rule_server import RuleServer
from smdebug.trials import create_trial
from support.driver import program
from support.smdebug_program import smdebug_json

EXIT_ERROR = 2


def refused(run: Path, *words: str) -> str:
    """What is said of a call that is refused, before anything is judged."""
    command = [str(program("smdebug")), "check", str(run), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (EXIT_ERROR, ""), done
    assert not (run / "rules").exists()
    return done.stderr.splitlines()[-1]


def test_a_file_that_is_not_there(run: Path, tmp_path: Path) -> None:
    told = refused(run, "--rule", f"{tmp_path}/none.py:Own")
    assert told == f"smdebug: {tmp_path}/none.py: no such file"


def test_a_class_that_is_not_there(run: Path, write_rule: WriteRule) -> None:
    rule = write_rule(LOW_LOSS + "\nclass Other(LowLoss):\n    pass\n")
    told = refused(run, "--rule", f"{rule}:Missing")
    assert told == f"smdebug: {rule} has no class Missing; its classes: LowLoss, Other"


def test_a_script_without_the_class_is_not_run(
    run: Path, write_rule: WriteRule, tmp_path: Path
) -> None:
    trains = f"open({str(tmp_path / 'trained')!r}, 'w').close()\n"
    rule = write_rule(trains + "def train():\n    class Own: pass\n")
    assert refused(run, "--rule", f"{rule}:Own").endswith("has no class Own; its classes: none")
    assert not (tmp_path / "trained").exists()
    # Names that only running tells are looked for by running.
    rule = write_rule(trains + "globals()['Own'] = 3\n")
    assert "has no class Own" in refused(run, "--rule", f"{rule}:Own")
    assert (tmp_path / "trained").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("class Own: pass", "it does not derive from smdebug.rules.Rule"),
        ("class Own(Rule): pass", "it does not define invoke_at_step()"),
    ],
)
def test_a_class_that_is_no_rule(run: Path, write_rule: WriteRule, text: str, why: str) -> None:
    rule = write_rule(text)
    told = refused(run, "--rule", f"{rule}:Own")
    assert told == f"smdebug: {rule}: Own is not a rule: {why}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("class Own(Rule)\n  pass", "SyntaxError: "),
        (
            "import no_such_module\nclass Own: pass",
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("raise SystemExit(3)\nclass Own: pass", "SystemExit: 3"),
    ],
)
def test_a_file_that_cannot_be_loaded(
    run: Path, write_rule: WriteRule, text: str, why: str
) -> None:
    rule = write_rule(text)
    assert refused(run, "--rule", f"{rule}:Own").startswith(
        f"smdebug: {rule} cannot be loaded: {why}"
    )


OWN = """
class Own(Rule):
    def __init__(self, base_trial, needed, limit: int = 3, flag=True, action_str=""):
        super().__init__(base_trial)

    def invoke_at_step(self, step):
        return False
"""


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("needed=1:limits=4", "Own has no parameter limits; it has needed, limit, flag"),
        ("limit=4", "Own needs a value of needed"),
        ("needed=1:limit=x", "Own.limit: 'x' is not allowed; expected a whole number"),
        ("needed=1:limit=0.5", "Own.limit: '0.5' is not allowed; expected a whole number"),
        ("needed=1:flag=2", "Own.flag: '2' is not allowed; expected true or false"),
        ("needed=1:other_trials=x", "Own has no parameter other_trials"),
    ],
)
def test_parameters_that_do_not_fit(run: Path, write_rule: WriteRule, given: str, why: str) -> None:
    told = refused(run, "--rule", f"{write_rule(OWN)}:Own:{given}")
    assert told.startswith(f"smdebug: {why}")


def test_a_rule_of_a_file_without_class(run: Path, write_rule: WriteRule) -> None:
    assert "path/to/file.py:ClassName" in refused(run, "--rule", str(write_rule(OWN)))


@pytest.mark.parametrize("option", [["--worker", "worker_0"], ["--all-workers"]])
def test_workers_are_for_built_in_rules(
    run: Path, write_rule: WriteRule, option: list[str]
) -> None:
    assert "looks at workers itself" in refused(
        run, "--rule", f"{write_rule(LOW_LOSS)}:LowLoss", *option
    )


def test_a_python_that_is_not_there(
    run: Path, write_rule: WriteRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_PYTHON", "/no/such/python")
    told = refused(run, "--rule", f"{write_rule(LOW_LOSS)}:LowLoss")
    assert "cannot start /no/such/python" in told
    assert "set SMDEBUG_PYTHON" in told


def test_a_python_without_smdebug(
    run: Path, write_rule: WriteRule, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bare = tmp_path / "bare-python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setenv("SMDEBUG_PYTHON", str(bare))
    told = refused(run, "--rule", f"{write_rule(LOW_LOSS)}:LowLoss")
    assert f"`{bare} -m smdebug.rules.rule_invoker` has ended by exit code 1" in told
    assert "set SMDEBUG_PYTHON to a Python that has smdebug 2 installed" in told


FAILS = """
import os
import signal
import sys


class Fails(Rule):
    def invoke_at_step(self, step):
        if step == 2:
            {how}
        return step == 1


class Unmade(Rule):
    def __init__(self, base_trial):
        raise RuntimeError("not today")

    def invoke_at_step(self, step):
        return False
"""


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("raise KeyError('no such\\nkey')", r"KeyError: 'no such\nkey'"),
        ("sys.exit(4)", "SystemExit: 4"),
        ("os._exit(4)", "its Python process has ended by exit code 4"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "its Python process has ended by signal 9"),
        ("os.fork() or signal.pause(); os._exit(4)", "its Python process has ended by exit code 4"),
    ],
)
def test_a_rule_that_fails_is_an_error_and_the_others_go_on(
    run: Path, write_rule: WriteRule, how: str, why: str
) -> None:
    rule = write_rule(FAILS.format(how=how))
    rules = ["--rule", f"{rule}:Fails", "--rule", "AllZero:tensor_regex=^fc"]
    # The other one fires.
    own, other = smdebug_json("check", run, *rules, code=1)
    assert (own["status"], own["details"]) == ("Error", why)
    assert own["fired_steps"] == [1]
    assert (other["status"], other["fired_steps"]) == ("IssuesFound", [0])


def test_a_constructor_that_fails(run: Path, write_rule: WriteRule) -> None:
    rule = write_rule(FAILS.format(how="pass"))
    (report,) = smdebug_json("check", run, "--rule", f"{rule}:Unmade", code=EXIT_ERROR)
    assert (report["status"], report["details"]) == ("Error", "RuntimeError: not today")


def test_a_run_without_what_the_rule_needs(run: Path, write_rule: WriteRule) -> None:
    rule = write_rule("""
class Needs(Rule):
    def invoke_at_step(self, step):
        return self.base_trial.tensor("none").value(step) > 0
""")
    (report,) = smdebug_json("check", run, "--rule", f"{rule}:Needs", code=EXIT_ERROR)
    assert report["status"] == "Error"
    assert report["details"].startswith("no step has what it needs: ")
    assert "none" in report["details"]


def test_a_damaged_file_costs_its_steps(run: Path, write_rule: WriteRule) -> None:
    event = min((run / "events").rglob("*2_worker_0.tfevents"))
    content = bytearray(event.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    event.write_bytes(content)
    rule = f"{write_rule(LOW_LOSS)}:LowLoss:threshold=0"
    (report,) = smdebug_json("check", run, "--rule", rule, code=EXIT_ERROR)
    assert "1 of 6 steps could not be read: events/" in report["details"]


def test_a_rule_judges_no_run_that_took_the_place(run: Path, write_rule: WriteRule) -> None:
    server = RuleServer()
    load = {"file": str(write_rule(LOW_LOSS)), "class": "LowLoss", "parameters": {}}
    assert server.answer({"ask": "load", "has_other_trials": False, **load}) == {}
    opened = {"ask": "open", "run": str(run), "other_trials": [], "start_step": 0, "end_step": None}
    told = server.answer({**opened, "run_id": "the-run-before"})
    assert "holds another run" in told["error"]
    run_id = create_trial(str(run)).run_info().id
    assert server.answer({**opened, "run_id": run_id}) == {}
