"""Rules in Python that act when they fire."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from smdebug.exceptions import RuleEvaluationConditionMet
from smdebug.rules import Rule
from smdebug.rules.action import Actions
from smdebug.rules.action.message_action import MessageAction
from smdebug.rules.action.stop_training_action import StopTrainingAction
from smdebug.rulesconfig import SMS, ActionList, Email, StopTraining
from smdebug.trials import Trial, create_trial
from support.log import logged
from support.native_run import make_run
from support.web_server import WebServer

JOB = """
import sys
from pathlib import Path
from support.native_run import NativeRun

run = NativeRun(Path(sys.argv[1]))
for step in range(3):
    run.save_step({"loss": 1.0})
print("ready", flush=True)
sys.stdin.read()
"""


class Fires(Rule):
    """Fires at step 1."""

    def __init__(self, base_trial: Trial, action_str: str) -> None:
        super().__init__(base_trial, action_str)

    def invoke_at_step(self, step: int) -> bool:
        return step == 1


def fire(run: Path, action_str: str) -> list[str]:
    """What is logged when the rule fires."""
    with logged() as texts:
        rule = Fires(create_trial(str(run)), action_str)
        rule.invoke(0)
        with pytest.raises(RuleEvaluationConditionMet):
            rule.invoke(1)
    return texts


@contextmanager
def running_job(run: Path) -> Iterator[subprocess.Popen[str]]:
    """A job that has saved three steps and waits."""
    job = subprocess.Popen(
        [sys.executable, "-c", JOB, str(run)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert job.stdout and job.stdout.readline() == "ready\n"
        yield job
    finally:
        job.kill()
        job.communicate()


def test_stop_training_ends_the_job_of_the_run(tmp_path: Path) -> None:
    run = tmp_path / "job-1/out"
    with running_job(run) as job:
        fire(run, StopTraining("job-1").serialize())
        assert job.wait(timeout=300) == -signal.SIGTERM
    (line,) = (run / "rules/actions.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert (told["rule"], told["step"], told["action"]) == ("Fires", 1, "stop")
    assert (told["outcome"], told["detail"]) == ("done", "1 ended after SIGTERM")


def test_a_run_that_took_the_place_of_the_judged_one_goes_on(tmp_path: Path) -> None:
    judged = make_run(tmp_path / "out")
    with running_job(tmp_path / "next") as job, logged() as texts:
        rule = Fires(create_trial(str(judged)), StopTraining("out").serialize())
        rule.invoke(0)
        rule.base_trial.dynamic_refresh = False
        judged.rename(tmp_path / "before")
        (tmp_path / "next").rename(judged)
        rule.actions.invoke(step=1)
        assert job.poll() is None
    assert any("holds another run" in text for text in texts), texts


def test_a_job_of_another_name_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "job-1/out"
    with running_job(run) as job:
        texts = fire(run, StopTraining("job-2").serialize())
        assert job.poll() is None
    assert any("nothing was stopped" in text for text in texts)


def test_a_finished_run_has_nothing_to_stop(tmp_path: Path) -> None:
    texts = fire(make_run(tmp_path / "job-1"), StopTraining("job-1").serialize())
    assert any("nothing was stopped" in text for text in texts)


def test_a_rule_does_not_stop_the_process_it_runs_in(tmp_path: Path) -> None:
    script = JOB.replace('print("ready", flush=True)\nsys.stdin.read()', "") + (
        "from smdebug.rules import Rule\n"
        "from smdebug.trials import create_trial\n"
        "class Fires(Rule):\n"
        "    def invoke_at_step(self, step): return True\n"
        """action = '{"name": "stoptraining", "training_job_prefix": "run"}'\n"""
        "rule = Fires(create_trial(sys.argv[1]), action)\n"
        "try: rule.invoke(1)\n"
        "except Exception as e: print(type(e).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "SMDEBUG_LOG_LEVEL": "off",
        },
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "RuleEvaluationConditionMet\n"), done.stderr


def test_a_webhook_is_told_rule_run_and_step(tmp_path: Path, web: WebServer) -> None:
    run = make_run(tmp_path / "run")
    fire(run, json.dumps({"name": "webhook", "endpoint": web.url()}))
    (post,) = web.posted
    assert (post["json"]["rule"], post["json"]["step"]) == ("Fires", 1)
    assert post["json"]["run"] == str(run)
    assert post["json"]["text"].startswith("SMDebugRule:Fires fired. Step 1.")


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_SMTP_URL", "smtp://localhost")
    monkeypatch.setenv("SMDEBUG_SMTP_FROM", "a@b")
    monkeypatch.setenv("SMDEBUG_SMS_URL", "http://localhost")


@pytest.mark.usefixtures("servers")
def test_actions_of_rulesconfig_are_understood() -> None:
    listed = ActionList(StopTraining("Job-1"), Email("abc@abc.com"), SMS("+1234"))
    stop, mail, sms = Actions(listed.serialize(), "R")._actions
    assert isinstance(stop, StopTrainingAction)
    assert (stop._rule_name, stop._training_job_prefix) == ("R", "Job-1")
    assert isinstance(mail, MessageAction)
    assert isinstance(sms, MessageAction)
    assert (mail._protocol, mail._message_endpoint) == ("email", "abc@abc.com")
    assert (sms._protocol, sms._message_endpoint) == ("sms", "+1234")


@pytest.mark.parametrize("text", [None, "", "  "])
def test_no_actions_are_fine(text: str | None) -> None:
    with logged() as texts:
        actions = Actions(text, "R")
        actions.invoke("message")
    assert actions._actions == []
    assert texts == []


@pytest.mark.parametrize(
    "text",
    ["{", "3", "[3]", '{"name": "page"}', '{"name": "stoptraining"}', '{"name": "sms"}'],
)
def test_what_is_wrong_is_logged_and_left_out(text: str) -> None:
    with logged() as texts:
        actions = Actions(text, "Rule9")
        actions.invoke("message")
    assert actions._actions == []
    assert any("Rule9" in logged_text for logged_text in texts)


@pytest.mark.parametrize(
    ("action", "named"),
    [
        ({"name": "email", "endpoint": "a@b"}, "SMDEBUG_SMTP_URL is not set"),
        ({"name": "sms", "endpoint": "+1"}, "SMDEBUG_SMS_URL is not set"),
        ({"name": "exec", "command": "/no/program"}, "'/no/program' is not allowed"),
    ],
)
def test_what_cannot_be_done_is_said_when_the_rule_is_made(
    action: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SMDEBUG_SMTP_URL", raising=False)
    monkeypatch.delenv("SMDEBUG_SMS_URL", raising=False)
    with logged() as texts:
        actions = Actions(json.dumps(action), "Rule9")
    assert actions._actions == []
    assert any("Rule9" in text and named in text for text in texts)


@pytest.mark.usefixtures("servers")
def test_a_wrong_environment_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_ACTION_INTERVAL", "often")
    with logged() as texts:
        Actions('{"name": "sms", "endpoint": "+1"}', "R").invoke()
    assert any("SMDEBUG_ACTION_INTERVAL" in text for text in texts)


def test_a_failure_is_logged_and_the_next_action_is_done(tmp_path: Path, web: WebServer) -> None:
    texts = fire(
        make_run(tmp_path / "run"),
        json.dumps([{"name": "exec", "command": "false"}, {"name": "webhook", "url": web.url()}]),
    )
    assert any("exec false: failed: exit code 1" in text for text in texts)
    assert len(web.posted) == 1
