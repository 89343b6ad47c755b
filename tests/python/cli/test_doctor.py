"""`smdebug doctor` asks a real Python what it has."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import smdebug
from support.driver import program


def doctor(*options: str, path: Path | None = None) -> tuple[int, dict[str, Any]]:
    # Suites have variables of their own.
    environment = {name: it for name, it in os.environ.items() if not name.startswith("SMDEBUG_")}
    environment["SMDEBUG_PYTHON"] = sys.executable
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [program("smdebug"), "doctor", "--json", *options],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def framework(found: dict[str, Any], name: str) -> dict[str, Any]:
    (one,) = (one for one in found["python"]["frameworks"] if one["name"] == name)
    return dict(one)


def package(folder: Path, name: str, code: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(code)


def test_this_environment_is_found() -> None:
    torch = pytest.importorskip("torch")
    code, found = doctor()
    assert (code, found["problems"]) == (0, [])
    assert found["version"] == smdebug.__version__
    assert found["python"]["smdebug"]["version"] == smdebug.__version__
    assert found["python"]["version"] == ".".join(map(str, sys.version_info[:3]))
    one = framework(found, "torch")
    assert one["version"] == importlib.metadata.version("torch")
    assert one["supported"]
    assert Path(one["path"]) == Path(torch.__file__).parent
    assert not framework(found, "mxnet")["installed"]


def test_a_framework_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    package(tmp_path, "mxnet", "print('hello')\nraise OSError('libmxnet.so is missing')\n")
    package(tmp_path, "keras", "__version__ = '3.1'\nprint('{}')\n")
    package(tmp_path, "tensorflow", "import os\nos.abort()\n")
    code, found = doctor("--import", path=tmp_path)
    assert code == 1
    assert "libmxnet.so is missing" in framework(found, "mxnet")["error"]
    assert "signal 6" in framework(found, "tensorflow")["error"]
    assert framework(found, "keras") == {
        "name": "keras",
        "version": "3.1",
        "path": str(tmp_path / "keras"),
        "error": None,
        "installed": True,
        "supported": False,
    }
    assert len(found["problems"]) == 2


def test_a_framework_without_its_files_is_named(tmp_path: Path) -> None:
    info = tmp_path / "mxnet_cu112-1.9.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mxnet-cu112\nVersion: 1.9.1\n")
    code, found = doctor(path=tmp_path)
    assert code == 1
    one = framework(found, "mxnet")
    assert (one["version"], one["path"]) == ("1.9.1", None)
    assert "does not find it" in one["error"]


def test_an_smdebug_that_is_broken_is_named(tmp_path: Path) -> None:
    package(tmp_path, "smdebug", "raise ImportError('no _core')\n")
    code, found = doctor(path=tmp_path)
    assert code == 1
    assert found["problems"] == [f"smdebug of {sys.executable}: ImportError: no _core"]
