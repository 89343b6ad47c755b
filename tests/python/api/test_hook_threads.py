"""A hook that several threads, or a process other than its own, use."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from pathlib import Path
from typing import Any, Callable, TypeVar

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from smdebug._hook import making  # noqa: E402
from smdebug.core.hook import BaseHook  # noqa: E402
from support.log import logged  # noqa: E402
from support.torch_nets import Net  # noqa: E402

T = TypeVar("T")

pytestmark = pytest.mark.usefixtures("no_torch_hook")

EVERY = smd.SaveConfig(save_interval=1)


class Meeting:
    """Has a second thread come while the first one makes something."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, second: Callable[[], object]) -> None:
        self.made = 0
        self._is_there = threading.Event()
        self._thread = threading.Thread(target=second)
        meeting, lock = self, threading.RLock()

        class Lock:
            def __enter__(self) -> None:
                meeting._note_second()
                lock.acquire()

            def __exit__(self, *_: object) -> None:
                lock.release()

        monkeypatch.setattr(making, "_lock", Lock())

    def _note_second(self) -> None:
        if threading.current_thread() is self._thread:
            self._is_there.set()

    def around(self, make: Callable[..., T]) -> Callable[..., T]:
        """`make`, in which the first thread waits until the second one wants it, too."""

        def call(*args: object) -> T:
            self.made += 1
            self._note_second()
            if self.made == 1:
                self._thread.start()
                assert self._is_there.wait(60)
            return make(*args)

        return call

    def end(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()


def test_the_first_use_by_two_threads_makes_one_core(
    run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = smd.Hook(run, save_all=True, save_config=EVERY)
    net = Net()
    hook.register_module(net)
    meeting = Meeting(monkeypatch, lambda: hook.save_tensor("beside", np.ones(2)))
    monkeypatch.setattr(hook, "_make_core", meeting.around(hook._make_core))
    for _ in range(3):
        net(torch.randn(2, 4)).sum().backward()
    meeting.end()
    assert meeting.made == 1
    hook.close()
    assert hook.stats["steps_saved"] == 3
    assert hook.stats["errors"] == hook.stats["lost"] == hook.stats["dropped"] == 0
    assert smd.create_trial(run).tensor("beside").steps()


def test_two_threads_that_ask_for_the_hook_get_one(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.json"
    config.write_text(f'{{"LocalPath": "{run}"}}')
    found: list[Any] = []

    def ask() -> None:
        found.append(smd.get_hook(str(config), create_if_not_exists=True))

    meeting = Meeting(monkeypatch, ask)
    make = meeting.around(smd.Hook.create_from_json_file)
    monkeypatch.setattr(smd.Hook, "create_from_json_file", make)
    ask()
    meeting.end()
    assert meeting.made == 1
    assert found[0] is found[1] is not None
    found[0].close()


def test_a_lock_that_is_held_at_a_fork_does_not_hang_the_child(run: str) -> None:
    holds, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        with making.making():
            holds.set()
            may_go.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert holds.wait(60)
    child = os.fork()
    if child == 0:
        with BaseHook(run) as hook:
            hook.save_scalar("of_child", 1)
        os._exit(0 if hook.stats["scalars_saved"] == 1 else 1)
    may_go.set()
    thread.join(60)
    assert os.waitpid(child, 0)[1] == 0


def says_it_saves_nothing(said: list[str]) -> bool:
    return [text.startswith("smdebug saves nothing with this hook") for text in said] == [True]


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_forked_child_says_once_that_it_saves_nothing(has_begun: bool, run: str) -> None:
    hook = smd.Hook(run, save_all=True, save_config=smd.SaveConfig(save_interval=100))
    net = Net()
    hook.register_module(net)
    for _ in range(3 if has_begun else 0):
        net(torch.randn(2, 4))
    zeros = dict.fromkeys(smd.Hook(f"{run}_other", dry_run=True).stats, 0)
    child = os.fork()
    if child == 0:
        with logged() as said:
            for _ in range(3):
                net(torch.randn(2, 4))
                hook.save_scalar("s", 1)
        is_well = says_it_saves_nothing(said) and hook.stats == zeros and hook.flush() is False
        os._exit(0 if is_well else 1)
    assert os.waitpid(child, 0)[1] == 0
    child = os.fork()
    if child == 0:  # One that has only inherited it.
        with logged() as said:
            hook.close()
        os._exit(len(said))
    assert os.waitpid(child, 0)[1] == 0
    hook.close()


def test_a_copy_that_is_used_says_once_that_it_saves_nothing(run: str) -> None:
    hook = smd.Hook(run, save_all=True, save_config=EVERY)
    for copied in (pickle.loads(pickle.dumps(hook)), copy.copy(hook), copy.deepcopy(hook)):
        net = Net()
        with logged() as said:
            copied.register_module(net)
            net(torch.randn(2, 4)).sum().backward()
            copied.save_scalar("s", 1)
            copied.save_tensor("t", np.ones(2))
            copied.record_tensor_value("r", torch.ones(2))
        assert says_it_saves_nothing([text for text in said if "Watching" not in text])
        assert copied.flush() is False
        assert set(copied.stats.values()) == {0}
    hook.close()


def test_stats_always_have_the_same_keys(run: str) -> None:
    hook = smd.Hook(run)
    before = hook.stats
    assert set(before.values()) == {0}
    hook.save_scalar("s", 1)
    hook.close()
    assert hook.stats.keys() == before.keys()
    assert hook.stats["scalars_saved"] == 1


def test_what_comes_after_the_end_of_the_step_is_counted(run: str) -> None:
    hook = smd.Hook(run, save_config=EVERY, include_collections=["gradients"])
    net = Net()
    hook.register_module(net)
    for _ in range(2):
        loss = net(torch.randn(2, 4)).sum()
        hook.end_step()
        loss.backward()
    hook.close()
    assert hook.stats["dropped"] == 2 * len(list(net.parameters()))


def test_what_comes_after_the_end_of_the_hook_is_counted(run: str) -> None:
    hook = smd.Hook(run, save_all=True, save_config=EVERY)
    net = Net()
    hook.register_module(net)
    net(torch.randn(2, 4))
    hook.close()
    hook.save_scalar("s", 1)
    hook.save_tensor("t", np.ones(2))
    hook.record_tensor_value("r", torch.ones(2))
    assert hook.stats["dropped"] == 3
    assert hook.flush()  # Of the steps that have ended nothing is missing.


def test_a_name_that_is_kept_for_reductions_is_refused(run: str) -> None:
    hook = smd.Hook(run, save_all=True, save_config=EVERY)
    net = Net()
    hook.register_module(net)
    name = "smdebug/reductions/mean/zz"
    with logged() as said:
        hook.save_tensor(name, np.ones(2))
        net(torch.randn(2, 4))
        hook.save_tensor(name, np.ones(2))
        hook.record_tensor_value(name, torch.ones(2))
        hook.save_scalar(name, 1)
        hook.close()
    assert hook.stats["skipped"] == 4
    assert len([text for text in said if "is kept for reductions" in text]) == 1
    assert not [one for one in smd.create_trial(run).tensor_names() if "zz" in one]


@pytest.mark.parametrize("reduced", [False, True])
def test_empty_tensors_keep_their_type_and_shape(reduced: bool, run: str) -> None:
    reductions = smd.ReductionConfig(reductions=["mean"]) if reduced else None
    empty: list[Any] = [
        np.zeros((3, 0, 4), np.int16),
        np.zeros((0, 1), np.float64),
        np.zeros(0, bool),
    ]
    with BaseHook(run, save_config=EVERY, reduction_config=reductions) as hook:
        for number, array in enumerate(empty):
            hook.save_tensor(f"t{number}", array)
        hook._begin_step()
    trial = smd.create_trial(run)
    for number, array in enumerate(empty):
        value: Any = trial.tensor(f"t{number}").value(0)
        assert (value.dtype, value.shape) == (array.dtype, array.shape)
        assert trial.tensor(f"t{number}").shape(0) == array.shape


def test_a_tensor_that_cannot_be_saved_is_named_in_one_line(run: str) -> None:
    class Broken:
        def __array__(self, *_: object, **__: object) -> None:
            raise ValueError("no values\nnone at all")

    hook = smd.Hook(run, save_all=True, save_config=EVERY)
    net = Net()
    hook.register_module(net)
    net(torch.randn(2, 4))
    with logged() as said:
        hook.save_tensor("none", None)
        hook.save_tensor("broken", Broken())
        hook.close()
    assert hook.stats["skipped"] == 2
    assert any("'none'" in text for text in said)
    assert any("'broken' is left out: ValueError: no values (" in text for text in said)
    assert not any("\n" in text for text in said)
