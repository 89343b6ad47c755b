"""The version stands in include/smdebug/version.h, and everything else takes it from there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import smdebug
import tomllib

ROOT = Path(__file__).resolve().parents[3]
HEADER = "include/smdebug/version.h"


def version() -> str:
    found = re.search(r'kVersion\[\] = "([^"]+)"', (ROOT / HEADER).read_text(encoding="utf-8"))
    assert found
    return found[1]


def test_the_package_the_program_and_the_build_have_the_version_of_the_header() -> None:
    programs = Path(os.environ["SMDEBUG_BIN_DIR"])
    said = subprocess.run([programs / "smdebug", "--version"], capture_output=True, text=True)
    assert said.stdout.strip() == version()
    assert smdebug.__version__ == version()
    package = (programs.parent / "smdebug.pc").read_text(encoding="utf-8")
    number = re.search(r"^Version: (.+)$", package, re.MULTILINE)
    assert number
    assert re.fullmatch(re.escape(number[1]) + r"(\D.*)?", version())


def test_wheels_have_it_too() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    source = project["tool"]["scikit-build"]["metadata"]["version"]
    assert source["input"] == HEADER
    found = re.search(source["regex"], (ROOT / HEADER).read_text(encoding="utf-8"))
    assert found
    assert found["value"] == version()


def test_no_other_file_states_it() -> None:
    files = subprocess.run(
        ["git", "grep", "-lF", version(), "--", ":!CHANGELOG.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert files.stdout.split() == [HEADER]
