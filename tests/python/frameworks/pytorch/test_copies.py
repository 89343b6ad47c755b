"""A model that is watched can be copied and stored; the copy is not watched."""

from __future__ import annotations

import copy
import gc
import io
import multiprocessing
import os
import pickle
import weakref
from pathlib import Path
from typing import Any, Callable

import pytest
import smdebug.pytorch as smd
import torch
from support.log import logged
from support.torch_hooks import MakeHook, ReadRun
from support.torch_nets import Net
from torch import nn


def stored_and_loaded(net: nn.Module) -> Any:
    content = io.BytesIO()
    torch.save(net, content)
    content.seek(0)
    keywords = {"weights_only": False} if hasattr(torch, "compile") else {}
    return torch.load(content, **keywords)


WAYS: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda net: pickle.loads(pickle.dumps(net)),
    "torch.save": stored_and_loaded,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moment", ["before", "within", "after"])
def test_a_copy_computes_the_same_and_is_not_watched(
    way: str, moment: str, make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(save_all=True, save_config=smd.SaveConfig(save_interval=2))
    hook.register_module(net)
    x = torch.randn(2, 4)
    if moment != "before":
        net(x).sum().backward()  # Callbacks are attached now.
    if moment == "after":
        net(x).sum().backward()  # And taken off again.
    twin = WAYS[way](net)
    begun = hook.step
    assert torch.equal(twin(x), net(x))
    assert hook.step == begun + 1
    twin(x).sum().backward()
    assert hook.step == begun + 1
    assert read_run().steps() == list(range(0, begun + 2, 2))


def test_state_is_that_of_a_model_without_a_hook(make_hook: MakeHook) -> None:
    net = Net()
    names = list(net.state_dict())
    hook = make_hook(save_all=True)
    hook.register_module(net)
    net(torch.randn(2, 4))
    assert list(net.state_dict()) == names
    net.load_state_dict(Net().state_dict())


def test_a_copied_hook_does_nothing(make_hook: MakeHook, run_dir: Path) -> None:
    hook = make_hook(save_all=True)
    twin = pickle.loads(pickle.dumps(hook))
    assert isinstance(twin, smd.Hook)
    assert "does nothing" in repr(twin)
    twin.save_scalar("x", 1)
    twin.save_tensor("t", torch.ones(1))
    twin.close()
    assert not list(run_dir.rglob("*"))


@pytest.mark.parametrize("use", ["save_scalar", "save_tensor", "register_module"])
def test_a_copied_hook_that_is_used_says_so(use: str, make_hook: MakeHook) -> None:
    copied = pickle.loads(pickle.dumps(make_hook()))
    with logged() as lines:
        if use == "register_module":
            copied.register_module(Net())
        else:
            getattr(copied, use)("mine", 1.0)
    assert ["saves nothing with this hook" in line for line in lines] == [True]


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda h: pickle.loads(pickle.dumps(h))])
def test_a_copied_hook_answers_as_the_hook_does(
    way: Callable[[smd.Hook], smd.Hook], begun: bool, make_hook: MakeHook, run_dir: Path
) -> None:
    hook = make_hook(
        include_collections=["weights", "mine"],
        reduction_config=smd.ReductionConfig(norms=["l1"]),
        rules=["VanishingGradient"],
        forwards_per_step=2,
    )
    net = Net()
    hook.get_collection("mine").add_module_tensors(net.fc)
    hook.register_module(net)
    if begun:
        net(torch.randn(2, 4))
    twin = way(hook)
    answers = [name for name in dir(hook) if not name.startswith("_")]
    for name in answers:
        value, of_twin = getattr(hook, name), getattr(twin, name)
        if not callable(value) and name not in ("step", "mode_steps", "worker", "stats"):
            if name in ("rule_reports", "collection_manager"):
                continue
            assert of_twin == value, name
    assert (twin.step, twin.mode_steps, twin.rule_reports) == (-1, {}, [])
    collections = twin.get_collections()
    assert collections.keys() == hook.get_collections().keys()
    assert twin.get_collection("mine").include_regex == hook.get_collection("mine").include_regex
    assert twin.has_default_configuration() is False
    twin.add_collection(smd.Collection("another", include_regex=["x"]))
    assert "another" not in hook.get_collections()
    twin.set_mode(smd.modes.EVAL)
    twin.end_step()
    twin.close()
    assert way(twin).out_dir == str(run_dir)


def _use_hook(hook: smd.Hook, queue: Any) -> None:
    net = Net()
    with logged() as said:
        hook.register_module(net)
        net(torch.randn(2, 4)).sum().backward()
        hook.save_scalar("s", 1)
    told = [text for text in said if text.startswith("smdebug saves nothing with this hook")]
    queue.put((hook.out_dir, hook.include_collections, len(told), hook.flush()))


def test_a_hook_that_is_sent_to_a_spawned_process_says_that_it_saves_nothing(
    make_hook: MakeHook, run_dir: Path
) -> None:
    hook = make_hook(include_collections=["weights"])
    context: Any = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=_use_hook, args=(hook, queue))
    child.start()
    assert queue.get(timeout=120) == (str(run_dir), ["losses", "weights"], 1, False)
    child.join(timeout=120)
    assert child.exitcode == 0
    assert not list(run_dir.rglob("*"))


def _forward(net: nn.Module, x: torch.Tensor, queue: Any) -> None:
    queue.put(net(x).detach().sum().item())


# PyTorch 1.13 says so of every callback, also of those that ask it not to.
@pytest.mark.filterwarnings("ignore:backward hook .* will not be serialized")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_child_that_runs_the_model_neither_hangs_nor_writes(
    start: str, make_hook: MakeHook, read_run: ReadRun
) -> None:
    torch.set_num_threads(1)  # PyTorch's own threads do not outlive a fork.
    net = Net()
    hook = make_hook(save_all=True)
    hook.register_module(net)
    x = torch.randn(2, 4)
    expected = net(x).detach().sum().item()
    context: Any = multiprocessing.get_context(start)
    queue = context.Queue()
    child = context.Process(target=_forward, args=(net, x, queue))
    child.start()
    assert queue.get(timeout=120) == expected
    child.join(timeout=120)
    assert child.exitcode == 0
    assert hook.step == 0
    assert read_run().steps() == [0]


def test_a_child_forked_before_the_first_step_writes_nothing(
    make_hook: MakeHook, read_run: ReadRun, run_dir: Path
) -> None:
    torch.set_num_threads(1)
    net = Net()
    hook = make_hook(save_all=True)
    hook.register_module(net)
    child = os.fork()
    if child == 0:
        try:
            hook.save_scalar("in_child", 1)
            net(torch.randn(2, 4))
            hook.close()
        finally:
            os._exit(len([path for path in run_dir.rglob("*") if path.is_file()]))
    assert os.waitpid(child, 0)[1] == 0
    net(torch.randn(2, 4))
    trial = read_run()
    assert trial.steps() == [0]
    assert "scalar/in_child" not in trial.tensor_names()


class Numbers(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((4,), float(index))


def test_workers_of_a_data_loader_leave_the_run_alone(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(save_all=True)
    hook.register_module(net)
    for batch in torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2):
        net(batch).sum().backward()
    trial = read_run()
    assert trial.steps() == [0, 1, 2, 3]
    assert trial.workers() == ["worker_0"]


def test_a_hook_keeps_no_model_alive(make_hook: MakeHook) -> None:
    hook = make_hook(save_all=True)
    models = []
    for _ in range(3):
        net = Net()
        hook.register_module(net)
        net(torch.randn(1, 4)).sum().backward()
        models.append(weakref.ref(net))
        del net
    hook.save_scalar("x", 1)
    gc.collect()
    # The callbacks of the last one stay on it until a step is not saved.
    assert [model() for model in models] == [None, None, None]
    assert hook._watched() == []
