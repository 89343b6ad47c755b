"""What the hook of every framework promises: whatever fails in it, the training is the same.

A framework's tests have a class below FailOpen, which gives its training and its own cases.
"""

from __future__ import annotations

import json
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, ClassVar

import pytest
from smdebug import _core
from smdebug.core.hook import BaseHook
from smdebug.exceptions import (
    SMDebugError,
    SMDebugRuntimeError,
    SMDebugTypeError,
    SMDebugValueError,
)

from support.log import logged
from support.waiting import wait_until

MakeHook = Callable[..., BaseHook]
AtStep = Callable[[int], None]
Wrong = dict[str, tuple[dict[str, Any], type[Exception], str]]


class Core:
    """Stands for the extension module: notes what is asked of it, of which one call fails."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.asked: set[str] = set()
        self.failures = 0

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Puts itself into all modules of the package but the one that the core calls itself."""
        for name, module in list(sys.modules.items()):
            if name == "smdebug._internal.native_log":
                continue
            if name.startswith("smdebug.") and vars(module).get("_core") is _core:
                monkeypatch.setattr(module, "_core", self)

    def note(self, name: str) -> None:
        self.asked.add(name)
        if name == self.failing:
            self.failures += 1
            raise RuntimeError("injected")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the core is.
        self.note(name)
        found = getattr(_core, name)
        if name == "Hook":
            return lambda *args: _CoreHook(self, found(*args))
        # Where the core asks for its hook, it gets its own.
        return lambda *args: found(*(a.hook if isinstance(a, _CoreHook) else a for a in args))


class _CoreHook:
    """The same for the core's hook."""

    def __init__(self, core: Core, hook: _core.Hook) -> None:
        self.core = core
        self.hook = hook

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the core is.
        self.core.note(f"Hook.{name}")
        return getattr(self.hook, name)


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Inside, writing beyond `size` bytes of a file fails as it does on a full disk."""
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def ledger_of(run: Path) -> dict[str, Any]:
    ledger: dict[str, Any] = json.loads((run / "ledger/worker_0.json").read_text())
    return ledger


def save_no_number(hook: BaseHook, name: str = "x") -> AtStep:
    """What fails at every step, and is to be counted."""
    return lambda _: hook.save_scalar(name, [1, 2])


class FailOpen:
    """The promises. `make_full_hook` makes a hook that saves all that there is."""

    steps: ClassVar[int]  # Of a training.
    core_calls: ClassVar[tuple[str, ...]]  # What a training asks of the core.
    setup_calls: ClassVar[tuple[str, ...]] = ()  # The same, where the script is told of an error.
    wrong: ClassVar[Wrong] = {}  # Arguments that are refused, besides those of all hooks.

    all_wrong: ClassVar[Wrong] = {
        "regex": ({"include_regex": ["("]}, SMDebugValueError, r"\("),
        "save_config": ({"save_config": 5}, SMDebugTypeError, "5"),
        "mode": ({"save_config": {"x": 1}}, SMDebugError, "x"),
        "save_all": ({"save_all": "maybe"}, SMDebugTypeError, "save_all.*maybe"),
        "include_workers": ({"include_workers": "All"}, SMDebugValueError, "include_workers.*All"),
        "rules": ({"rules": ["NoSuchRule"]}, SMDebugError, "NoSuchRule"),
    }

    def train(self, hook: BaseHook | None, at_step: AtStep | None = None) -> object:
        """What a training leaves that uses all of `hook` and closes it."""
        raise NotImplementedError

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "core_call" in metafunc.fixturenames:
            metafunc.parametrize("core_call", self.core_calls)
        if "wrong_kind" in metafunc.fixturenames:
            metafunc.parametrize("wrong_kind", [*self.all_wrong, *self.wrong])

    @pytest.fixture
    def make_full_hook(self, make_hook: MakeHook) -> MakeHook:
        return lambda: make_hook(save_all=True)

    @pytest.fixture(scope="class")
    def untouched(self) -> object:
        return self.train(None)

    # What fails outside of the hook.

    def test_a_full_disk(self, make_full_hook: MakeHook, untouched: object, run_dir: Path) -> None:
        hook = make_full_hook()
        with no_file_above(1024):
            assert self.train(hook) == untouched
        assert hook.stats["errors"] > 0
        assert hook.stats["lost"] > 0
        assert ledger_of(run_dir)["lost"] == hook.stats["lost"]

    def test_a_folder_that_is_removed(
        self, make_full_hook: MakeHook, untouched: object, run_dir: Path
    ) -> None:
        def is_gone() -> bool:
            shutil.rmtree(run_dir, ignore_errors=True)
            return not run_dir.exists()

        def remove(step: int) -> None:
            if step == 2:
                wait_until(is_gone)  # The hook's own thread may have added a file.

        hook = make_full_hook()
        with logged() as said:
            assert self.train(hook, remove) == untouched
        assert hook.stats["lost"] > 0
        assert any(str(run_dir) in text for text in said)

    def test_a_folder_that_cannot_be_made(
        self, make_full_hook: MakeHook, untouched: object, run_dir: Path
    ) -> None:
        hook = make_full_hook()
        run_dir.rmdir()
        run_dir.write_text("a file is in the way")
        with logged() as said:
            assert self.train(hook) == untouched
        # That there is no hook of the core is an error.
        assert {name: n for name, n in hook.stats.items() if n} == {"errors": 1}
        assert any("saves nothing" in text for text in said)

    # What fails inside.

    def test_the_calls_that_fail_below_are_those_that_a_training_makes(
        self, make_full_hook: MakeHook, untouched: object, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hook, core = make_full_hook(), Core()
        core.install(monkeypatch)
        assert self.train(hook, save_no_number(hook)) == untouched
        assert core.asked == {*self.core_calls, *self.setup_calls}

    def test_a_fault_in_a_call_of_the_core(
        self,
        core_call: str,
        make_full_hook: MakeHook,
        untouched: object,
        run_dir: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        hook, core = make_full_hook(), Core(core_call)
        with logged() as said, monkeypatch.context() as patch:
            core.install(patch)
            assert self.train(hook, save_no_number(hook)) == untouched
        assert core.failures > 0
        # Whoever looks for the reason finds it.
        ledgers = [path.read_text() for path in run_dir.glob("ledger/*.json")]
        assert any("injected" in text for text in [*said, *ledgers])

    def test_a_fault_that_comes_again_is_told_once_and_counted(
        self, make_full_hook: MakeHook, run_dir: Path
    ) -> None:
        hook = make_full_hook()
        with logged() as said:
            self.train(hook, save_no_number(hook, "never before"))
        assert len([text for text in said if "not one number" in text]) == 1
        assert hook.stats["skipped"] == self.steps
        assert any("not one number" in text for text in ledger_of(run_dir)["messages"].values())

    def test_strict_hooks_raise(
        self, make_full_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SMDEBUG_STRICT", "1")
        hook = make_full_hook()
        with pytest.raises(SMDebugTypeError, match="not one number"):
            self.train(hook, save_no_number(hook))

    def test_a_closed_hook_does_nothing(self, make_full_hook: MakeHook, untouched: object) -> None:
        hook = make_full_hook()
        hook.close()
        assert self.train(hook) == untouched
        assert hook.stats["steps_saved"] == 0

    # What is wrong from the start.

    def test_a_bad_configuration_is_refused_at_once(
        self, wrong_kind: str, make_hook: MakeHook, run_dir: Path
    ) -> None:
        arguments, error, text = {**self.all_wrong, **self.wrong}[wrong_kind]
        with pytest.raises(error, match=text):
            make_hook(**arguments)
        assert not run_dir.exists()

    def test_an_unusable_collection_is_left_out_and_named(
        self, make_hook: MakeHook, untouched: object
    ) -> None:
        hook = make_hook(include_collections=["empty", "unheard", "losse"])
        hook.get_collection("empty")
        with logged() as said:
            assert self.train(hook) == untouched
        left_out = [text for text in said if text.startswith("Left out: ")]
        assert [text for text in left_out if "collection 'empty' has neither" in text]
        assert [text for text in left_out if "include_collections: 'unheard'" in text]
        assert [text for text in left_out if text.endswith("did you mean 'losses'?")]

    def test_an_output_folder_is_needed(self, framework: ModuleType) -> None:
        with pytest.raises(RuntimeError, match="out_dir is a required argument"):
            framework.Hook()

    def test_a_finished_run_is_kept(
        self, framework: ModuleType, make_hook: MakeHook, run_dir: Path
    ) -> None:
        make_hook().close()
        with pytest.raises(SMDebugRuntimeError, match="already exists"):
            framework.Hook(str(run_dir))

    def test_a_bad_variable_of_the_environment_is_refused_at_once(
        self, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SMDEBUG_BUFFER_MB", "plenty")
        with pytest.raises(SMDebugValueError, match=r"SMDEBUG_BUFFER_MB.*plenty"):
            make_hook()

    def test_a_folder_in_s3_is_refused_at_once(self, framework: ModuleType) -> None:
        with pytest.raises(SMDebugError, match="s3"):
            framework.Hook("s3://bucket/run")

    def test_a_bad_json_file_is_refused_with_its_key(
        self, framework: ModuleType, tmp_path: Path
    ) -> None:
        path = tmp_path / "hook.json"
        path.write_text('{"HookParameters": {"save_interval": "often"}}')
        with pytest.raises(SMDebugValueError, match=r"save_interval.*often"):
            framework.Hook.create_from_json_file(str(path))
        with pytest.raises(FileNotFoundError):
            framework.Hook.create_from_json_file(str(tmp_path / "none.json"))
