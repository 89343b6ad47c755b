"""What a user of the wheel has: the package, whole, without a compiler or Debian's libraries."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import smdebug
from smdebug import _core
from smdebug.trials import create_trial

SITE = Path(smdebug.__file__).parent.parent


def test_the_package_comes_from_the_wheel() -> None:
    assert SITE.name == "site-packages"
    assert importlib.metadata.version("smdebug") == smdebug.__version__


def test_there_is_no_compiler() -> None:
    programs = ["c++", "g++", "clang++", "cc", "cmake", "ninja"]
    assert [program for program in programs if shutil.which(program)] == []


@pytest.mark.parametrize("file", [_core.__file__, f"{SITE}/smdebug/bin/smdebug"])
def test_libraries_of_the_core_are_inside(file: str) -> None:
    found = subprocess.run(["/usr/bin/ldd", file], capture_output=True, text=True, check=True)
    paths = re.findall(r"=> (\S+)", found.stdout)
    of_system = {"libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "libpthread.so", "libdl.so"}
    ours = [
        Path(path) for path in paths if Path(path).name.partition(".so")[0] + ".so" not in of_system
    ]
    assert ours
    assert {path.resolve().parent for path in ours} == {SITE / "smdebug.libs"}


def test_types_and_licences_are_inside() -> None:
    files = {str(path) for path in importlib.metadata.files("smdebug") or []}
    assert {"smdebug/py.typed", "smdebug/_core.pyi"} <= files
    assert {path.partition("/")[0] for path in files if not path.startswith("..")} <= {
        "smdebug",
        "smdebug.libs",
        f"smdebug-{smdebug.__version__}.dist-info",
    }
    assert any(path.endswith("LICENSE") for path in files)
    assert any(path.endswith("NOTICE") for path in files)
    assert not any(path.startswith(("src/", "include/", "python/")) for path in files)


VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def write_run(folder: Path) -> None:
    settings = {
        "framework": 0,
        "out_dir": str(folder),
        "export_tensorboard": False,
        "tensorboard_dir": "",
        "dry_run": False,
        "reduction_config": None,
        "save_config": smdebug.SaveConfig(save_interval=1).to_json(),
        "include_regex": ["weight"],
        "include_collections": [],
        "save_all": False,
        "include_workers": "one",
        "collections": [],
    }

    def describe(array: np.ndarray) -> tuple[object, ...]:
        return array.ctypes.data, str(array.dtype), list(array.shape), None, array

    hook = _core.Hook(settings, "worker_0", 1, True, (np.ndarray,), (), describe)
    assert hook.begin_step()
    hook.save("fc.weight", VALUES)
    hook.close()


def test_a_run_is_written_and_read(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    index = tmp_path / "run/index/000000000/000000000000_worker_0.json"
    assert json.loads(index.read_text())["tensor_payload"][0]["tensorname"] == "fc.weight"
    trial = create_trial(str(tmp_path / "run"))
    np.testing.assert_array_equal(trial.tensor("fc.weight").value(0), VALUES)


def test_the_command_is_a_program_and_not_a_script_of_python() -> None:
    command = shutil.which("smdebug")
    assert command == str(Path(sys.executable).with_name("smdebug"))
    assert Path(command).read_bytes()[:4] == b"\x7fELF"


COMMANDS = (["smdebug"], [sys.executable, "-m", "smdebug"])


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_has_the_version_of_the_package(command: list[str]) -> None:
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == smdebug.__version__
    wrong = subprocess.run([*command, "no-such-command"], capture_output=True, text=True)
    assert wrong.returncode == 2


RULE = """
import sys

from smdebug.rules import Rule


class Here(Rule):
    def invoke_at_step(self, step):
        return bool(print(sys.prefix, file=sys.stderr)) or step == 0
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_rules_of_python_files_run_in_this_environment(command: list[str], tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    (tmp_path / "rule.py").write_text(RULE, encoding="utf-8")
    done = subprocess.run(
        [*command, "check", str(tmp_path / "run"), "--rule", f"{tmp_path}/rule.py:Here"],
        env={"PATH": "/no/such/folder"},
        capture_output=True,
        text=True,
        executable=shutil.which(command[0]),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert sys.prefix in done.stderr.splitlines()


def test_smdebug_imports_alone() -> None:
    code = "import smdebug, sys; print('torch' in sys.modules or 'pandas' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_completions_and_the_man_page_are_where_they_are_looked_for() -> None:
    for file in (
        "bash-completion/completions/smdebug",
        "zsh/site-functions/_smdebug",
        "fish/vendor_completions.d/smdebug.fish",
        "man/man1/smdebug.1",
    ):
        assert "smdebug" in (Path(sys.prefix) / "share" / file).read_text(encoding="utf-8")


def test_the_doctor_finds_this_environment() -> None:
    done = subprocess.run(["smdebug", "doctor", "--json"], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert (done.returncode, found["problems"]) == (0, [])
    assert Path(found["python"]["path"]).parent == Path(sys.executable).parent
    assert found["python"]["smdebug"]["version"] == smdebug.__version__
