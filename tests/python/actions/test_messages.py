"""Mails, text messages and webhooks, sent to servers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from smdebug import _core
from support.mail_server import Certificate, MailServer
from support.trail import Trail
from support.web_server import WebServer

RESULTS = ("done", "failed", "dry run", "suppressed")


def fire(
    action: str,
    run: Path | str = "",
    message: str = "It is bad.",
    **options: Any,  # noqa: ANN401
) -> str:
    """Adds an action, fires, and tells how it went: the result and the detail."""
    actions = _core.ActionSet(backoff=0, **options)
    actions.add(action)
    ((kind, _, result, detail),) = actions.fire("Vanishing", str(run), 7, message)
    assert kind == action.partition(":")[0]
    assert result in RESULTS
    return f"{result}: {detail}"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return Certificate.make(tmp_path_factory.mktemp("tls"))


def use(server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_SMTP_URL", server.url())
    monkeypatch.setenv("SMDEBUG_SMTP_FROM", "smdebug@box.example")


def test_a_webhook_gets_what_slack_shows_and_the_facts(
    web: WebServer, tmp_path: Path, trail: Trail
) -> None:
    assert fire(f"webhook:{web.url('/T0/secret')}", tmp_path) == "done: answer 200"
    (post,) = web.posted
    assert post["path"] == "/T0/secret"
    assert post["type"] == "application/json"
    assert post["json"] == {
        "text": f"SMDebugRule:Vanishing fired. It is bad.\nRun: {tmp_path}\nStep: 7",
        "rule": "Vanishing",
        "run": str(tmp_path),
        "step": 7,
        "message": "It is bad.",
        "suppressed": 0,
        "findings": [],
    }
    (line,) = trail()
    assert line.pop("time") > 1.6e9
    assert line == {
        "run": "",
        "rule": "Vanishing",
        "step": 7,
        "message": "It is bad.",
        "action": "webhook",
        "target": web.url("/..."),
        "outcome": "done",
        "detail": "answer 200",
        "dry_run": False,
        "suppressed": False,
        "suppressed_before": 0,
    }


def test_texts_of_any_kind_arrive(web: WebServer) -> None:
    message = 'a "b" \\ \n\t\x01 ü 漢 🦄 ' + "x" * 100_000
    fire(f"webhook:{web.url()}", message=message)
    assert web.posted[0]["json"]["message"] == message


def test_a_server_that_fails_is_asked_again(web: WebServer) -> None:
    web.answers = [500, 503, 200]
    assert fire(f"webhook:{web.url()}") == "done: answer 200"
    assert len(web.posted) == 3


def test_it_is_not_asked_forever(web: WebServer) -> None:
    web.answers = [500] * 10
    assert fire(f"webhook:{web.url()}", attempts=4).endswith("answer 500 (4 attempts)")
    assert len(web.posted) == 4


@pytest.mark.parametrize("answer", [302, 400, 404, 429])
def test_other_answers_are_final(web: WebServer, answer: int) -> None:
    web.answers = [answer]
    assert fire(f"webhook:{web.url()}") == f"failed: answer {answer}"
    assert [post["path"] for post in web.posted] == ["/"]


def test_a_server_that_is_silent_is_asked_again(web: WebServer) -> None:
    web.answers = [None, 200]
    assert fire(f"webhook:{web.url()}", timeout=0.5) == "done: answer 200"
    assert len(web.posted) == 2


def test_a_server_that_is_not_there_is_a_failure(web: WebServer) -> None:
    with WebServer() as other:
        url = other.url()
    assert fire(f"webhook:{url}").startswith("failed: ")
    assert web.posted == []


def test_a_text_message_is_posted_as_sns_takes_it(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_SMS_URL", web.url("/publish"))
    assert fire("sms:+49123456") == "done: answer 200"
    assert web.posted[0]["path"] == "/publish"
    assert web.posted[0]["json"] == {
        "PhoneNumber": "+49123456",
        "Subject": "SMDebugRule:Vanishing fired",
        "Message": "SMDebugRule:Vanishing fired. It is bad.",
        "MessageAttributes": {"phone_num": {"DataType": "String", "StringValue": "+49123456"}},
    }


@pytest.mark.parametrize(
    ("action", "variable"), [("sms:+1", "SMDEBUG_SMS_URL"), ("email:a@b", "SMDEBUG_SMTP_URL")]
)
def test_a_message_without_a_server_is_refused_when_it_is_added(
    action: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable, raising=False)
    actions = _core.ActionSet()
    with pytest.raises(ValueError, match=f"{variable} is not set; expected "):
        actions.add(action)


def test_a_program_that_is_not_there_is_refused_when_it_is_added() -> None:
    actions = _core.ActionSet()
    with pytest.raises(ValueError, match=r"'\./no-such-program' is not allowed; expected a"):
        actions.add("exec:./no-such-program --now")


def test_a_mail_is_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with MailServer() as server:
        use(server, monkeypatch)
        told = fire("email:Ann@Example.org", tmp_path, "Zu klein: ü.\n.\n..\nend")
        assert told == f"done: sent through {server.url()}"
    ((sender, receivers, mail),) = server.mails
    assert sender == "smdebug@box.example"
    assert receivers == ["Ann@Example.org"]
    assert mail["From"] == "smdebug@box.example"
    assert mail["To"] == "Ann@Example.org"
    assert mail["Subject"] == "SMDebugRule:Vanishing fired"
    assert mail["Date"].datetime.tzinfo is not None
    assert mail.defects == []
    assert mail.get_content().replace("\r\n", "\n") == (
        f"SMDebugRule:Vanishing fired. Zu klein: ü.\n.\n..\nend\nRun: {tmp_path}\nStep: 7\n"
    )


def test_a_long_subject_of_any_letters_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = "Überprüfung漢字🦄" * 10
    with MailServer() as server:
        use(server, monkeypatch)
        actions = _core.ActionSet()
        actions.add("email:a@b.com")
        assert actions.fire(rule, "", None, "")[0][2] == "done"
    assert server.mails[0][2]["Subject"] == f"SMDebugRule:{rule} fired"


def test_a_mail_that_is_refused_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with MailServer(refuses=True) as server:
        use(server, monkeypatch)
        assert fire("email:a@b.com").startswith(f"failed: {server.url()}: ")
    assert server.mails == []


# The server does not see that it is behind TLS from the start.
@pytest.mark.filterwarnings("ignore:Requiring AUTH")
@pytest.mark.parametrize("at_once", [False, True], ids=["starttls", "smtps"])
def test_a_password_is_sent_over_tls(
    at_once: bool, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = (b"ann", b"secret")
    with MailServer(certificate, at_once, login) as server:
        use(server, monkeypatch)
        monkeypatch.setenv("SMDEBUG_SMTP_USER", "ann")
        monkeypatch.setenv("SMDEBUG_SMTP_PASSWORD", "secret")
        monkeypatch.setenv("SMDEBUG_CA_FILE", str(certificate.file))
        assert fire("email:a@b.com").startswith("done")
        monkeypatch.setenv("SMDEBUG_SMTP_PASSWORD", "wrong")
        told = fire("email:a@b.com")
        assert told.startswith("failed")
        assert "wrong" not in told
    assert len(server.mails) == 1
    assert server.logins[0] == login


def test_a_password_is_not_sent_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    with MailServer(login=(b"ann", b"secret")) as server:
        use(server, monkeypatch)
        monkeypatch.setenv("SMDEBUG_SMTP_USER", "ann")
        monkeypatch.setenv("SMDEBUG_SMTP_PASSWORD", "secret")
        assert fire("email:a@b.com").startswith("failed")
    assert server.logins == []


def test_a_server_that_nobody_vouches_for_is_not_trusted(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MailServer(certificate, tls_at_once=True) as server:
        use(server, monkeypatch)
        assert fire("email:a@b.com").startswith("failed")
    assert server.mails == []


def test_the_rate_limit_is_told_in_the_next_message(
    web: WebServer, trail: Trail, tmp_path: Path
) -> None:
    actions = _core.ActionSet(interval=1e6)
    actions.add(f"webhook:{web.url()}")
    for step in range(3):
        actions.fire("A", str(tmp_path), step, "")
    actions.fire("B", str(tmp_path), 3, "")
    assert [post["json"]["rule"] for post in web.posted] == ["A", "B"]
    assert [line["outcome"] for line in trail()] == ["done", "suppressed", "suppressed", "done"]
    assert actions.counts() == (2, 0, 0, 2)


def test_a_dry_run_sends_nothing(web: WebServer, trail: Trail, tmp_path: Path) -> None:
    actions = _core.ActionSet(dry_run=True)
    actions.add(f"webhook:{web.url()}")
    actions.fire("A", str(tmp_path), 0, "")
    assert web.posted == []
    assert [(line["outcome"], line["dry_run"]) for line in trail()] == [("dry run", True)]


def test_libcurl_is_loaded_only_when_something_is_sent() -> None:
    script = """
import json
from smdebug import _core
loaded = lambda: "libcurl" in open("/proc/self/maps").read()
told = [loaded()]
actions = _core.ActionSet()
actions.add("exec:true")
actions.add("webhook:http://127.0.0.1:1/")
told.append(loaded())
actions.fire("R", "", 0, "")
told.append(loaded())
print(json.dumps(told))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [False, False, True]
