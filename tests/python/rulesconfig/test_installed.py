"""smdebug-rulesconfig-alias beside smdebug_rulesconfig of PyPI: either first, either removed.

The one of PyPI is that of this suite's environment, packed again; ours is built from
python/rulesconfig by the environment that SMDEBUG_PYTHON names, which has smdebug 2.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
THEIRS = "smdebug_rulesconfig"
OURS = "smdebug-rulesconfig-alias"

ASK = """
try:
    import smdebug_rulesconfig
    from smdebug_rulesconfig.actions.actions import ActionList, Email
    from smdebug_rulesconfig.debugger_rules.builtin_rules import vanishing_gradient
except ModuleNotFoundError:
    print("nobody")
else:
    import smdebug.rulesconfig
    assert smdebug_rulesconfig.Email is Email
    assert vanishing_gradient() == smdebug.rulesconfig.vanishing_gradient()
    ours = smdebug_rulesconfig is smdebug.rulesconfig
    assert ours == (Email is smdebug.rulesconfig.Email)
    print("ours" if ours else "theirs")
"""


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def python() -> str:
    found = os.environ.get("SMDEBUG_PYTHON")
    if found is None:
        pytest.skip("SMDEBUG_PYTHON names no Python that has our package")
    return found


def pack(distribution: importlib.metadata.Distribution, folder: Path) -> Path:
    """The wheel that an installed distribution came from, as far as pip looks."""
    files = [
        path
        for path in distribution.files or []
        if path.suffix != ".pyc"
        and path.name not in {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"}
    ]
    information = f"{THEIRS}-{distribution.version}.dist-info"
    wheel = folder / f"{THEIRS}-{distribution.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in files:
            archive.write(str(path.locate()), str(path))
        names = [*map(str, files), f"{information}/RECORD"]
        archive.writestr(names[-1], "".join(f"{name},,\n" for name in names))
    return wheel


@pytest.fixture(scope="module")
def wheels(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    run(
        *(python, "-m", "pip", "wheel", "--no-deps", "--no-index"),
        *("--wheel-dir", folder, ROOT / "python/rulesconfig"),
    )
    (ours,) = folder.glob("*.whl")
    theirs = pack(importlib.metadata.distribution(THEIRS), tmp_path_factory.mktemp("theirs"))
    return {OURS: ours, THEIRS: theirs}


class Environment:
    """An empty one, in which smdebug 2 can be imported."""

    def __init__(self, python: str, folder: Path) -> None:
        self._pip = [python, "-m", "pip", "--python", str(folder / "bin/python"), "--quiet"]
        self._python = folder / "bin/python"
        run(python, "-m", "venv", "--without-pip", folder)
        where = "import sysconfig; print(sysconfig.get_path('purelib'))"
        (site,) = folder.glob("lib/python3*/site-packages")
        # Its name comes last, as that of a package would that is installed elsewhere.
        (site / "zz_smdebug.pth").write_text(
            f"import site; site.addsitedir({run(python, '-c', where)!r})\n", encoding="utf-8"
        )

    def install(self, wheel: Path) -> None:
        run(*self._pip, "install", "--no-deps", "--no-index", wheel)

    def remove(self, distribution: str) -> None:
        run(*self._pip, "uninstall", "--yes", distribution)

    def answers(self) -> str:
        """Whose smdebug_rulesconfig is imported."""
        return run(self._python, "-c", ASK)


@pytest.mark.parametrize("first", [OURS, THEIRS])
@pytest.mark.parametrize("removed", [OURS, THEIRS])
def test_each_is_installed_and_removed_beside_the_other(
    first: str, removed: str, python: str, wheels: dict[str, Path], tmp_path: Path
) -> None:
    environment = Environment(python, tmp_path / "environment")
    assert environment.answers() == "nobody"
    second, left = ({OURS, THEIRS} - {name} for name in (first, removed))
    environment.install(wheels[first])
    assert environment.answers() == ("ours" if first == OURS else "theirs")
    environment.install(wheels[second.pop()])
    assert environment.answers() == "theirs"
    environment.remove(removed)
    assert environment.answers() == ("ours" if removed == THEIRS else "theirs")
    environment.remove(left.pop())
    assert environment.answers() == "nobody"


def test_the_one_beside_is_that_of_pypi() -> None:
    assert importlib.metadata.version(THEIRS) == "1.0.1"
    assert sys.executable != os.environ.get("SMDEBUG_PYTHON")
