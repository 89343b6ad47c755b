"""The logger `smdebug`, set up by the environment, each time in a process of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

SPEAKS = """
from smdebug.core.logger import get_logger
logger = get_logger()
assert get_logger("smdebug") is logger
for _ in range(5):
    logger.info("again")
for number in range(5):
    logger.info("number %d", number)
for level in ("debug", "warning", "error", "critical"):
    getattr(logger, level)(f"a {level}")
"""
LEVELS = ["debug", "info", "warning", "error", "critical"]
SAID = ["again"] * 3 + ["number 0", "number 1", "number 2"]


def run(code: str = SPEAKS, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SMDEBUG_LOG")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **variables},
        capture_output=True,
        text=True,
        check=True,
    )


def texts(output: str) -> list[str]:
    return [line.partition("] ")[2] for line in output.splitlines()]


def test_each_text_is_said_three_times() -> None:
    done = run()
    assert texts(done.stdout) == [*SAID, "a warning", "a error", "a critical"]
    assert done.stderr == ""


def test_a_line_tells_time_process_level_and_place() -> None:
    line = run().stdout.splitlines()[0]
    host = re.escape(socket.gethostname())
    form = rf"\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{3}} {host}:\d+ INFO <string>:6\] again"
    assert re.fullmatch(form, line), line


@pytest.mark.parametrize("level", [*LEVELS, "WARNING"])
def test_the_level_is_chosen(level: str) -> None:
    said = {"info": SAID, **{name: [f"a {name}"] for name in LEVELS if name != "info"}}
    order = ["info", "debug", "warning", "error", "critical"]
    least = LEVELS.index(level.lower())
    expected = [text for name in order if LEVELS.index(name) >= least for text in said[name]]
    assert texts(run(SMDEBUG_LOG_LEVEL=level).stdout) == expected


def test_the_log_is_turned_off() -> None:
    done = run(SMDEBUG_LOG_LEVEL="off")
    assert (done.stdout, done.stderr) == ("", "")


def test_an_unknown_level_is_info() -> None:
    assert texts(run(SMDEBUG_LOG_LEVEL="loud").stdout)[:3] == ["again"] * 3


def test_the_context_is_chosen() -> None:
    assert " rank %d 100% INFO " in run(SMDEBUG_LOG_CONTEXT="rank %d 100%").stdout


def test_errors_go_to_standard_error() -> None:
    done = run(SMDEBUG_LOG_ALL_TO_STDOUT="FALSE")
    assert texts(done.stdout) == [*SAID, "a warning"]
    assert texts(done.stderr) == ["a error", "a critical"]


def test_a_file_has_the_log_too(tmp_path: Path) -> None:
    path = tmp_path / "logs/smdebug.log"
    done = run(SMDEBUG_LOG_PATH=str(path))
    assert path.read_text() == done.stdout


def test_a_file_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run(SMDEBUG_LOG_PATH=str(tmp_path / "file/smdebug.log"))
    assert "SMDEBUG_LOG_PATH" in texts(done.stdout)[0]
    assert texts(done.stdout)[1:] == [*SAID, "a warning", "a error", "a critical"]


def test_other_loggers_are_left_alone() -> None:
    code = """
import logging
from smdebug.core.logger import get_logger
root = logging.getLogger()
assert not root.handlers
other = get_logger("mine")
assert other is logging.getLogger("mine") and not other.handlers and other.propagate
assert not get_logger().propagate
assert len(get_logger().handlers) == 1
"""
    run(code)
