"""tools/bootstrap and CMake find what is there, and name the packages of what is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = [
    "ar",
    "as",
    "awk",
    "bash",
    "cat",
    "cmake",
    "dirname",
    "env",
    "grep",
    "ld",
    "make",
    "mkdir",
    "mktemp",
    "ninja",
    "paste",
    "pkg-config",
    "rm",
    "sed",
    "sort",
    "tr",
]


class Machine:
    """A copy of the tools, on a PATH that has what this test puts there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        for name in PROGRAMS:
            self.link(name, shutil.which(name))
        self.link("c++", shutil.which("c++"))
        self.link("python3", sys.executable)
        shutil.copytree(ROOT / "cmake", root / "cmake")
        shutil.copytree(ROOT / "tools/dependencies", root / "tools/dependencies")
        shutil.copy(ROOT / "tools/bootstrap", root / "tools")

    def link(self, name: str, path: str | None) -> None:
        assert path is not None, name
        self.write(name, f'exec {path} "$@"')  # pyenv's python3 goes by its own name.

    def write(self, name: str, body: str) -> None:
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(f"#!/bin/bash\n{body}\n")
        (self.bin / name).chmod(0o755)

    def lacks(self, *libraries: str) -> None:
        """Has CMake find everything but these."""
        lines = "\\n".join(libraries)
        self.write("cmake", f"printf '{lines}\\n' >build/bootstrap/missing.txt")

    def bootstrap(self, *groups: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.bootstrap_in(self.root, self.bin, *groups, **variables)

    @staticmethod
    def bootstrap_in(
        root: Path, programs: Path, *groups: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(programs), "HOME": str(root), **variables}
        return subprocess.run(
            [str(programs / "bash"), "tools/bootstrap", *groups],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_machine_without_apt_that_has_everything_is_ready(machine: Machine) -> None:
    result = machine.bootstrap("build")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_missing_libraries_are_named_with_their_packages(machine: Machine) -> None:
    machine.lacks("fmt", "libhwy")
    result = machine.bootstrap("build")
    assert result.returncode == 1
    assert "missing here: git ccache fmt libhwy" in result.stderr
    assert "Debian, Ubuntu: ccache git libfmt-dev libhwy-dev\n" in result.stderr
    assert "Fedora:         ccache fmt-devel git highway-devel\n" in result.stderr
    assert "conda-forge:    ccache fmt git libhwy\n" in result.stderr


def test_fedora_and_conda_get_the_command_of_their_own(machine: Machine) -> None:
    machine.lacks("fmt")
    machine.write("git", "")
    machine.write("ccache", "")
    conda = machine.bootstrap("build", CONDA_PREFIX="/opt/conda").stderr
    assert "conda install -c conda-forge fmt\n" in conda
    machine.write("dnf", "")
    assert "sudo dnf install fmt-devel\n" in machine.bootstrap("build").stderr


def test_without_cmake_every_library_may_be_missing(machine: Machine) -> None:
    (machine.bin / "cmake").unlink()
    result = machine.bootstrap("build")
    assert result.returncode == 1
    assert " cmake " in result.stderr
    assert " libprotozero-dev" in result.stderr


def test_apt_installs_what_cmake_misses_and_nothing_else(machine: Machine) -> None:
    machine.lacks("fmt", "GTest")
    machine.write("git", "")
    machine.write("ccache", "")
    for name in ("mktemp", "tee"):
        machine.link(name, shutil.which(name))
    machine.write("apt-get", 'echo "$@" >>apt.log; echo "Setting up libfmt-dev"')
    machine.write("sudo", '[[ "$1" == -n ]] && shift; exec "$@"')
    result = machine.bootstrap("build")
    assert result.returncode == 0, result.stderr
    assert "bootstrap: installing libfmt-dev libgmock-dev libgtest-dev\n" in result.stdout
    assert "Setting up libfmt-dev" in result.stdout
    last = (machine.root / "apt.log").read_text().splitlines()[-1]
    assert last.endswith("install --no-install-recommends libfmt-dev libgmock-dev libgtest-dev")


def test_an_install_that_fails_is_an_error(machine: Machine) -> None:
    machine.lacks("fmt")
    machine.link("tee", shutil.which("tee"))
    machine.write("apt-get", 'echo "E: no such package"; exit 100')
    machine.write("sudo", '[[ "$1" == -n ]] && shift; exec "$@"')
    result = machine.bootstrap("build")
    assert result.returncode == 1
    assert "E: no such package" in result.stderr


def test_an_unknown_group_is_refused(machine: Machine) -> None:
    result = machine.bootstrap("nothing")
    assert result.returncode == 2
    assert (
        "there is no group nothing (groups: browser build lint shells torch113 xgb17 xgboost)"
        in result.stderr
    )


def test_cmake_names_all_that_is_missing_at_once(tmp_path: Path) -> None:
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "CLI11")]
    result = subprocess.run(
        ["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-DSMDEBUG_BUILD_TESTS=OFF", *hidden],
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert (
        "fmt: libfmt-dev (Debian, Ubuntu), fmt-devel (Fedora), fmt (conda-forge)" in result.stderr
    )
    assert "CLI11: libcli11-dev (Debian, Ubuntu), cli11-devel (Fedora)" in result.stderr


def test_help_says_what_it_does_and_which_groups_there_are(machine: Machine) -> None:
    result = machine.bootstrap("--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("tools/bootstrap [GROUP...]: ")
    assert "\nGroups: browser build lint " in result.stdout


def test_build_folders_of_another_place_are_made_anew(machine: Machine) -> None:
    assert machine.bootstrap("build").returncode == 0
    of_another = machine.root / "build/release"
    of_another.mkdir()
    (of_another / "CMakeCache.txt").write_text("CMAKE_CACHEFILE_DIR:INTERNAL=/elsewhere/release\n")
    kept = machine.root / "build/bootstrap/kept"
    kept.touch()
    result = machine.bootstrap("build")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        "bootstrap: build/release was made in another place, /elsewhere/release: it is made anew\n"
    )
    assert not of_another.exists()
    assert kept.exists()

    moved = machine.root.parent / "moved"
    shutil.copytree(machine.root, moved, symlinks=True)
    result = Machine.bootstrap_in(moved, machine.bin, "build")
    assert (result.returncode, result.stderr) == (0, "")
    assert "bootstrap: build/bootstrap was made in another place" in result.stdout
    assert not (moved / "build/bootstrap/kept").exists()
