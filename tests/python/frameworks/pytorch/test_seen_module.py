"""Whether a model is what it was when it was last looked at."""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict
from typing import Callable

import pytest
import torch
from smdebug import _core
from support.torch_nets import Child, Net
from torch import nn


def seen(module: nn.Module) -> _core.SeenModule:
    return _core.SeenModule(module, nn.Parameter, True)


def assert_is_seen(made: _core.SeenModule, module: nn.Module) -> None:
    found = made.look(module)
    assert found is not None
    expected = list(module.parameters())
    assert len(found) == len(expected)
    assert all(one is other for one, other in zip(found, expected))


def share(net: Net) -> None:
    net.fc.bias = net.child.lin.bias


def rename(net: Net) -> None:
    net.other = net.fc
    del net.fc


def become_plain(net: Net) -> None:
    weight = net.fc.weight
    del net.fc._parameters["weight"]
    net.fc._parameters["weight"] = weight.detach()


def swap(net: Net) -> None:
    net.child.act, net.relu = net.relu, net.child.act


CHANGES: list[Callable[[Net], object]] = [
    lambda net: setattr(net.fc, "weight", nn.Parameter(torch.zeros(3, 8))),
    lambda net: setattr(net.fc, "bias", None),
    lambda net: net.fc.register_parameter("more", nn.Parameter(torch.zeros(1))),
    lambda net: setattr(net, "child", Child()),
    lambda net: setattr(net, "relu", None),
    lambda net: net.child.add_module("more", nn.ReLU()),
    lambda net: net.child.lin._parameters.clear(),
    share,
    rename,
    become_plain,
    swap,
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(change: Callable[[Net], object]) -> None:
    net = Net()
    made = seen(net)
    assert_is_seen(made, net)
    change(net)
    assert made.look(net) is None
    assert_is_seen(seen(net), net)


def test_values_and_buffers_are_no_change() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    made = seen(net)
    net(torch.randn(4, 2)).sum().backward()
    torch.optim.SGD(net.parameters(), 0.1).step()
    net.eval().requires_grad_(False)
    assert_is_seen(made, net)


def test_what_occurs_twice_is_there_once() -> None:
    shared = nn.Linear(2, 2)
    net = nn.ModuleList([shared, nn.Sequential(shared, nn.Linear(2, 2)), shared])
    net[1][1].weight = shared.weight
    net.append(net)
    made = seen(net)
    assert_is_seen(made, net)
    net[1][1].weight = nn.Parameter(torch.zeros(2, 2))
    assert made.look(net) is None
    assert_is_seen(seen(net), net)


def test_dicts_of_another_kind() -> None:
    net = Net()
    net._modules = OrderedDict(net._modules)
    net._modules.move_to_end("child")
    made = seen(net)
    assert_is_seen(made, net)
    net._modules.move_to_end("fc")
    assert made.look(net) is None
    assert_is_seen(seen(net), net)


def test_a_module_in_the_place_of_one_that_is_gone() -> None:
    net = nn.Sequential(nn.ReLU())
    for _ in range(20):
        made = seen(net)
        del net[0]
        net.append(nn.ReLU())  # Where in memory one was, the next one often is.
        assert made.look(net) is None


def test_it_keeps_nothing() -> None:
    net = Net()
    made = seen(net)
    references = [weakref.ref(net.fc), weakref.ref(net.fc.weight), weakref.ref(net)]
    del net
    gc.collect()
    assert [reference() for reference in references] == [None] * 3
    assert made.look(Net()) is None


def test_other_parameters_are_told_from_ordinary_ones() -> None:
    class Own(nn.Parameter):
        pass

    net = nn.Linear(2, 2)
    assert seen(net).is_plain
    net.weight = Own(torch.zeros(2, 2))
    assert not seen(net).is_plain
