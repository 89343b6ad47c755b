"""tools/python-env makes what this machine's Python can have, and says what it does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = [
    "bash",
    "cat",
    "cp",
    "dirname",
    "env",
    "grep",
    "head",
    "mkdir",
    "mktemp",
    "rm",
    "sed",
    "sha256sum",
    "tail",
    "tee",
]
# What its Python has to answer: whether its version fits, how it is called, and `-m venv`.
PYTHON = """#!/bin/bash
case "$1" in
  -c) exec {real} -c "import sys; sys.version_info = ({version}); exec(sys.argv[1])" "$2" ;;
  --version) echo "Python {version}" ;;
  -m) mkdir -p "${{@: -1}}/bin" && cp bin/venv-python "${{@: -1}}/bin/python" ;;
esac
"""
# That of an environment, which installs whatever it is asked for.
VENV_PYTHON = """#!/bin/bash
[[ "$2" == pip ]] || exit 0
echo "Collecting numpy"
echo "  Downloading small-1.0-py3-none-any.whl (1.2 MB)"
echo "  Downloading large-2.0-cp311-cp311-manylinux_2_28_x86_64.whl (184.2 MB)"
echo "Installing collected packages: small large"
"""


class Machine:
    """A copy of the tool on a machine whose only Python is of a given version."""

    def __init__(self, root: Path, version: str) -> None:
        self.root = root
        (root / "bin").mkdir()
        (root / "tools").mkdir()
        shutil.copy(ROOT / "tools/python-env", root / "tools")
        shutil.copytree(ROOT / "tools/requirements", root / "tools/requirements")
        for name in PROGRAMS:
            path = shutil.which(name)
            assert path is not None, name
            (root / "bin" / name).symlink_to(path)
        self.write("python3", PYTHON.format(real=sys.executable, version=version))
        self.write("venv-python", VENV_PYTHON)

    def write(self, name: str, body: str) -> None:
        (self.root / "bin" / name).write_text(body)
        (self.root / "bin" / name).chmod(0o755)

    def make(self, *names: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.root / "tools/python-env", *names],
            env={"PATH": str(self.root / "bin")},
            capture_output=True,
            text=True,
        )


OF_SMDEBUG_1_0 = ("ref", "reftorch")
OF_ANY_PYTHON = ("build", "recipes", "tb", "tools", "torch", "wheel", "xgb")


@pytest.mark.parametrize("version", ["3, 12", "3, 14"])
def test_a_late_python_leaves_out_what_smdebug_1_0_is_needed_for(
    tmp_path: Path, version: str
) -> None:
    machine = Machine(tmp_path, version)
    result = machine.make(*OF_SMDEBUG_1_0, *OF_ANY_PYTHON)
    assert result.returncode == 3
    assert {path.name for path in tmp_path.glob(".venv-*")} == {f".venv-{n}" for n in OF_ANY_PYTHON}
    for name in OF_SMDEBUG_1_0:
        assert (
            f"left out .venv-{name}: it needs a Python with venv: "
            "3.9 to 3.11, as smdebug 1.0 does" in result.stderr
        )


def test_python_3_11_makes_all(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "3, 11")
    result = machine.make(*OF_SMDEBUG_1_0, *OF_ANY_PYTHON)
    assert result.returncode == 0, result.stderr
    # Once more, and there is nothing to do or to say.
    again = machine.make(*OF_SMDEBUG_1_0, *OF_ANY_PYTHON)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_it_says_how_far_it_is(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "3, 11")
    assert machine.make("tb").returncode == 0
    lines = machine.make("build", "tb", "wheel").stdout.splitlines()
    wheel = (ROOT / "tools/requirements/wheel.txt").read_text().count("==")
    progress = [
        "python-env:   downloading large-2.0-cp311-cp311-manylinux_2_28_x86_64.whl, 184.2 MB",
        "python-env:   installing them",
    ]
    assert lines == [
        "python-env: making .venv-build (1 of 2): 1 package with Python 3, 11",
        *progress,
        f"python-env: making .venv-wheel (2 of 2): {wheel} packages with Python 3, 11",
        *progress,
    ]


@pytest.mark.parametrize(
    ("said", "code"),
    [("ERROR: No matching distribution", 1), ("WARNING: Retrying (Retry(total=1))", 3)],
)
def test_a_failing_install_leaves_nothing_behind(tmp_path: Path, said: str, code: int) -> None:
    machine = Machine(tmp_path, "3, 11")
    machine.write("venv-python", f"#!/bin/bash\necho '{said}'\nexit 1\n")
    assert machine.make("tb").returncode == code
    assert not (tmp_path / ".venv-tb").exists()


def test_an_environment_that_does_not_work_does_not_count(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "3, 11")
    machine.write("venv-python", '#!/bin/bash\n[[ "$2" == pip ]] || { echo broken >&2; exit 1; }\n')
    result = machine.make("tb")
    assert result.returncode == 1
    assert ".venv-tb does not work" in result.stderr
    assert not (tmp_path / ".venv-tb").exists()


def test_an_unknown_environment_is_refused(tmp_path: Path) -> None:
    result = Machine(tmp_path, "3, 11").make("nothing")
    assert result.returncode == 2
    assert "no such environment: nothing" in result.stderr
