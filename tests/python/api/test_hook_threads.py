"""A hook that several threads, or a process other than its own, use."""

from __future__ import annotations

import copy
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, TypeVar

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from smdebug._hook import making  # noqa: E402
from smdebug.core.hook import BaseHook  # noqa: E402
from smdebug.pytorch.wrapping import Listeners  # noqa: E402
from support.log import logged  # noqa: E402
from support.torch_nets import Net, train  # noqa: E402

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


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before, threads = sys.getswitchinterval(), torch.get_num_threads()
    sys.setswitchinterval(1e-6)
    torch.set_num_threads(1)
    yield
    sys.setswitchinterval(before)
    torch.set_num_threads(threads)


def in_another_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("forwards", [1, "auto"])
@pytest.mark.parametrize("interval", [1, 2])
@pytest.mark.usefixtures("switching")
def test_threads_that_train_on_one_hook_are_not_disturbed(
    interval: int, forwards: int | str, run: str
) -> None:
    torch.manual_seed(0)
    nets = [Net() for _ in range(3)]
    twins = copy.deepcopy(nets)
    steps = 60
    hook = smd.Hook(
        run,
        save_all=True,
        save_config=smd.SaveConfig(save_interval=interval),
        forwards_per_step=forwards,
    )
    hook.save_tensor("early", np.ones(2))  # So that backward passes are watched for, too.
    for net in nets:
        hook.register_module(net)
    start = threading.Barrier(len(nets))
    losses: dict[int, list[float]] = {}

    def work(number: int) -> None:
        start.wait(60)
        losses[number] = train(nets[number], nets[number], torch.nn.CrossEntropyLoss(), steps)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(nets))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    hook.close()
    for number, twin in enumerate(twins):
        assert losses[number] == train(twin, twin, torch.nn.CrossEntropyLoss(), steps)
    stats = hook.stats
    assert stats["errors"] == stats["lost"] == stats["skipped"] == 0
    if forwards == 1:
        assert hook.step == len(nets) * steps - 1
    assert smd.create_trial(run).steps()


# PyTorch goes through them while it computes gradients, without holding on to them.
def test_callbacks_stay_on_a_model_that_another_thread_trains(run: str) -> None:
    hook = smd.Hook(run, save_all=True, save_config=smd.SaveConfig(save_interval=3))
    net, other = Net(), Net()
    hook.register_module(net)
    hook.register_module(other)
    x = torch.randn(2, 4)
    net(x).sum().backward()  # Step 0, which is saved.
    dicts = [parameter._backward_hooks for parameter in net.parameters()]
    assert all(dicts)
    in_another_thread(lambda: other(x))  # Step 1, which is not.
    for parameter, callbacks in zip(net.parameters(), dicts):
        assert parameter._backward_hooks is callbacks
        assert len(callbacks) == 1
    net(x).sum().backward()  # Nor is step 2, and its own thread takes them off.
    assert all(parameter._backward_hooks is None for parameter in net.parameters())
    hook.close()


def test_listeners_may_come_and_go_while_they_are_told() -> None:
    class Listener:
        pass

    listeners: Listeners[Listener] = Listeners()
    first, second, third = Listener(), Listener(), Listener()
    listeners.add(first)
    listeners.add(second)
    listeners.add(first)
    told = []
    for listener in listeners:
        told.append(listener)
        listeners.add(third)
        listeners.remove(second)
    assert told == [first, second]
    assert list(listeners) == [first, third]
    del first, told, listener
    assert list(listeners) == [third]


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
