"""Whatever fails in the hook, training ends with the same weights and the loss is counted."""

from __future__ import annotations

import json
import resource
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import smdebug.pytorch as smd
import torch
from smdebug import _core
from smdebug.core import hook as core_hook
from smdebug.exceptions import (
    SMDebugError,
    SMDebugRuntimeError,
    SMDebugTypeError,
    SMDebugValueError,
)
from smdebug.pytorch import watched
from smdebug.trials import create_trial
from support.log import logged
from support.torch_hooks import MakeHook
from support.torch_nets import Net, train
from torch import nn

STEPS = 6


def weights(hook: smd.Hook | None, at_step: Any = None) -> tuple[list[float], list[Any]]:
    """Losses and weights after a training that uses all of the hook."""
    torch.manual_seed(3)
    net, loss = Net(), nn.CrossEntropyLoss()
    if hook is not None:
        hook.register_module(net)
        hook.register_loss(loss)
        hook.set_mode(smd.modes.TRAIN)

    def after_step(step: int, value: torch.Tensor) -> None:
        if hook is not None:
            hook.set_mode(smd.modes.EVAL if step % 2 else smd.modes.TRAIN)
            hook.save_scalar("loss", value)
            hook.save_tensor("mine", value, "custom")
        if at_step is not None:
            at_step(step)

    losses = train(net, net, loss, STEPS, after_step)
    if hook is not None:
        hook.close()
    return losses, [value.tolist() for value in net.state_dict().values()]


@pytest.fixture(scope="module")
def untouched() -> tuple[list[float], list[Any]]:
    return weights(None)


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


def test_a_full_disk(
    make_hook: MakeHook, untouched: tuple[list[float], list[Any]], run_dir: Path
) -> None:
    hook = make_hook(save_all=True)
    with no_file_above(1024):
        assert weights(hook) == untouched
    assert hook.stats["errors"] > 0
    assert hook.stats["lost"] > 0
    ledger = json.loads((run_dir / "ledger/worker_0.json").read_text())
    assert ledger["lost"] == hook.stats["lost"]


def test_a_folder_that_is_removed(
    make_hook: MakeHook, untouched: tuple[list[float], list[Any]], run_dir: Path
) -> None:
    def remove(step: int) -> None:
        if step == 2:
            shutil.rmtree(run_dir, ignore_errors=True)

    assert weights(make_hook(save_all=True), remove) == untouched


def test_a_folder_that_cannot_be_made(
    make_hook: MakeHook,
    untouched: tuple[list[float], list[Any]],
    run_dir: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hook = make_hook(save_all=True)
    run_dir.rmdir()
    run_dir.write_text("a file is in the way")
    assert weights(hook) == untouched
    assert hook.stats == {}
    assert "saves nothing" in caplog.text


CORE_CALLS = [
    *("__init__", "begin_step", "set_mode", "save_many", "save_tensor", "save_scalar"),
    *("are_due", "leave_out", "close", "step", "ForwardCallback", "TensorCallback"),
]


class Faulty:
    """The core's hook, of which one call fails."""

    def __init__(self, failing: str, *args: Any) -> None:
        self._failing = failing
        if failing == "__init__":
            raise RuntimeError("injected")
        self._hook = _core.Hook(*args)

    def __getattr__(self, name: str) -> Any:
        if name == self._failing:
            raise RuntimeError("injected")
        return getattr(self._hook, name)


class FaultyCore:
    """The extension module, of which one call fails."""

    def __init__(self, failing: str) -> None:
        self._failing = failing

    def __getattr__(self, name: str) -> Any:
        if name == self._failing:
            raise RuntimeError("injected")
        if name == "Hook":
            return lambda *args: Faulty(self._failing, *args)
        found = getattr(_core, name)
        if name in ("ForwardCallback", "TensorCallback"):
            return lambda hook, *args: found(getattr(hook, "_hook", hook), *args)
        return found


@pytest.mark.parametrize("call", CORE_CALLS)
def test_a_fault_in_a_call_of_the_core(
    call: str,
    make_hook: MakeHook,
    untouched: tuple[list[float], list[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = make_hook(save_all=True)
    monkeypatch.setattr(core_hook, "_core", FaultyCore(call))
    monkeypatch.setattr(watched, "_core", FaultyCore(call))
    assert weights(hook) == untouched


def test_a_fault_at_a_step_of_which_nothing_is_saved(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch, run_dir: Path
) -> None:
    hook = make_hook(save_config=smd.SaveConfig(save_interval=4), include_collections=["weights"])
    monkeypatch.setattr(core_hook, "_core", FaultyCore("begin_idle_step"))
    net = Net()
    hook.register_module(net)
    train(net, net, nn.CrossEntropyLoss(), 10)
    hook.close()
    assert create_trial(str(run_dir)).steps() == [0, 4, 8]
    ledger = json.loads((run_dir / "ledger/worker_0.json").read_text())
    assert any("injected" in text for text in ledger["messages"].values())


def test_a_fault_is_in_the_ledger(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch, run_dir: Path
) -> None:
    hook = make_hook(save_all=True)
    monkeypatch.setattr(watched, "_core", FaultyCore("ForwardCallback"))
    weights(hook)
    ledger = json.loads((run_dir / "ledger/worker_0.json").read_text())
    assert any("injected" in text for text in ledger["messages"].values())


def test_a_fault_that_comes_again_is_told_once_and_counted(
    make_hook: MakeHook, run_dir: Path
) -> None:
    with logged() as texts:
        hook = make_hook(save_all=True)
        hook.register_module(net := Net())
        for _ in range(3):
            net(torch.randn(1, 4))
            hook.save_scalar("x", [1, 2])
        hook.close()
    assert len([text for text in texts if "not one number" in text]) == 1
    assert hook.stats["skipped"] == 3
    ledger = json.loads((run_dir / "ledger/worker_0.json").read_text())
    assert any("not one number" in text for text in ledger["messages"].values())
    assert create_trial(str(run_dir)).tensor("fc_output_0").steps() == [0, 1, 2]


def test_strict_hooks_raise(make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_STRICT", "1")
    hook = make_hook(save_all=True)
    hook.register_module(net := Net())
    net(torch.randn(1, 4))
    with pytest.raises(SMDebugTypeError, match="not one number"):
        hook.save_scalar("x", [1, 2])


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "regex": ({"include_regex": ["("]}, SMDebugValueError, r"\("),
    "interval": ({"save_config": {"x": 1}}, SMDebugError, "x"),
    "reductions": ({"reduction_config": "min"}, SMDebugTypeError, "reduction_config"),
    "save_config": ({"save_config": 5}, SMDebugTypeError, "5"),
    "save_all": ({"save_all": "maybe"}, SMDebugTypeError, "save_all.*maybe"),
    "include_workers": ({"include_workers": "All"}, SMDebugValueError, "include_workers.*All"),
    "forwards_per_step": ({"forwards_per_step": 1.5}, SMDebugValueError, "forwards_per_step.*1.5"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_configuration_is_refused_at_once(kind: str, make_hook: MakeHook) -> None:
    arguments, error, text = BAD[kind]
    with pytest.raises((error, KeyError), match=text):
        make_hook(**arguments)


def test_an_output_folder_is_needed_and_a_finished_run_is_kept(
    make_hook: MakeHook, run_dir: Path
) -> None:
    with pytest.raises(RuntimeError, match="out_dir is a required argument"):
        smd.Hook()
    make_hook().close()
    with pytest.raises(SMDebugRuntimeError, match="already exists"):
        smd.Hook(str(run_dir))


def test_a_bad_variable_of_the_environment_is_refused_at_once(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_BUFFER_MB", "plenty")
    with pytest.raises(SMDebugValueError, match=r"SMDEBUG_BUFFER_MB.*plenty"):
        make_hook()


def test_a_folder_in_s3_is_refused_at_once() -> None:
    with pytest.raises(SMDebugError, match="s3"):
        smd.Hook("s3://bucket/run")


def test_a_bad_json_file_is_refused_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "hook.json"
    path.write_text('{"HookParameters": {"save_interval": "often"}}')
    with pytest.raises(SMDebugValueError, match=r"save_interval.*often"):
        smd.Hook.create_from_json_file(str(path))
    with pytest.raises(FileNotFoundError):
        smd.Hook.create_from_json_file(str(tmp_path / "none.json"))


def test_an_unusable_collection_is_left_out_and_named(
    make_hook: MakeHook, untouched: tuple[list[float], list[Any]]
) -> None:
    hook = make_hook(include_collections=["empty", "unheard"])
    hook.get_collection("empty")
    assert weights(hook) == untouched
