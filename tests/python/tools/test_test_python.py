"""tools/test-python is red for whatever is not green."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools/test-python"


def load_tool() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("test_python_tool", str(TOOL))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module  # Annotations are looked up there.
    loader.exec_module(module)
    return module


tool: Any = load_tool()


class Tree:
    """A tree with tools that answer as told, and an environment `env`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("python-env", "python-package", "bootstrap"):
            self.let(name, 0)
        python = root / ".venv-env/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        self.write_test("assert True")

    def let(self, name: str, code: int) -> None:
        path = self.root / "tools" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nexit {code}\n")
        path.chmod(0o755)

    def write_test(self, body: str) -> None:
        folder = self.root / "suite"
        folder.mkdir(exist_ok=True)
        (folder / "test_it.py").write_text(f"def test_it():\n    {body}\n")

    def run(self, *, require_all: bool = False, **suite: str | float) -> bool:
        environment = tool.Environment("env", (tool.Suite("suite", **suite),))
        result: bool = tool.run_all([environment], self.root, self.root, 2, require_all)
        return result


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_passing_suite_is_green(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    assert tree.run(require_all=True)
    assert "passed    suite (.venv-env)" in capsys.readouterr().out


def test_a_failing_test_is_red(tree: Tree) -> None:
    tree.write_test("assert False")
    assert not tree.run()


def test_a_suite_without_tests_is_red(tree: Tree) -> None:
    (tree.root / "suite/test_it.py").unlink()
    assert not tree.run()


def test_a_package_that_does_not_build_is_red(
    tree: Tree, capsys: pytest.CaptureFixture[str]
) -> None:
    tree.let("python-package", 1)
    assert not tree.run()
    assert "BROKEN the package does not build in .venv-env" in capsys.readouterr().out


def test_an_environment_whose_requirements_cannot_be_met_is_red(tree: Tree) -> None:
    tree.let("python-env", 1)
    assert not tree.run()


def test_an_environment_that_cannot_be_had_is_left_out(
    tree: Tree, capsys: pytest.CaptureFixture[str]
) -> None:
    tree.let("python-env", tool.CANNOT_BE_HAD)
    assert tree.run()
    assert "LEFT OUT every suite of .venv-env" in capsys.readouterr().out
    assert not tree.run(require_all=True)


def test_missing_packages_of_the_system_leave_a_suite_out(tree: Tree) -> None:
    tree.let("bootstrap", 1)
    assert tree.run(system="browser")
    assert not tree.run(system="browser", require_all=True)


def test_without_smdebug_1_0_only_what_compares_with_it_is_left_out(
    tree: Tree, capsys: pytest.CaptureFixture[str]
) -> None:
    reference = tree.root / "tools/python-env"
    reference.write_text('#!/bin/sh\ncase "$1" in ref*) exit 3 ;; esac\n')
    for environment in tool.ENVIRONMENTS:
        python = tree.root / f".venv-{environment.name}/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\n")
        python.chmod(0o755)
    assert tool.run_all(tool.ENVIRONMENTS, tree.root, tree.root, 2, require_all=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" (")[0] for line in lines if "LEFT OUT" in line] == [
        "test-python: LEFT OUT tests/python/compat_torch",
        "test-python: LEFT OUT every suite of .venv-ref",
        "test-python: LEFT OUT tests/python/compat_xgboost",
    ]


def test_a_suite_that_does_not_end_is_red(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    tree.write_test("import threading; threading.Event().wait()")
    assert not tree.run(minutes=10 / 60)  # By then it waits.
    out = capsys.readouterr().out
    assert "in wait\n" in out  # Where it is.
    assert out.splitlines()[-1].startswith("test-python: TOO LONG ")


def test_every_folder_of_tests_has_a_suite() -> None:
    named = {
        folder
        for environment in tool.ENVIRONMENTS
        for suite in environment.suites
        for folder in suite.folders.split()
    }
    root = TOOL.parent.parent
    # `make wheel` runs that of the wheel.
    apart = {"tests/python/wheel"}
    for test in (root / "tests").rglob("test_*.py"):
        parents = {str(parent) for parent in test.relative_to(root).parents}
        assert parents & (named | apart), test


def test_the_reason_of_a_skip_is_shown(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    tree.write_test("import pytest; pytest.skip('no moon tonight')")
    assert tree.run()
    assert "no moon tonight" in capsys.readouterr().out
