"""Tensors that take the way of a device save what they would save on the CPU.

Here they are on the CPU nonetheless. tests/python/frameworks/pytorch_device is about what a device
is asked for.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch
from smdebug.exceptions import ShapeUnavailableForStep
from smdebug.pytorch.devices import CPU_AS_DEVICE
from smdebug.trials import Trial
from torch import Tensor, nn

REDUCTIONS = smd.ReductionConfig(
    reductions=["min", "max", "mean", "median", "std", "variance", "sum", "prod"],
    abs_reductions=["min", "max", "mean", "median", "std", "variance", "sum", "prod"],
    norms=["l1", "l2"],
)
WITHOUT_CONTENT = smd.ReductionConfig(
    reductions=["min", "max", "mean", "std", "variance", "sum"],
    abs_reductions=["min", "max", "mean", "std", "variance", "sum"],
    norms=["l1", "l2"],
)
DTYPES = [
    *("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "bool", "uint8"),
    *("int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "complex64", "complex128"),
]

MakeRun = Callable[..., Trial]
Job = Callable[[smd.Hook], object]


@pytest.fixture
def as_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(CPU_AS_DEVICE, "1")
    yield


def run(folder: Path, job: Job, **settings: Any) -> tuple[Trial, smd.Hook]:
    """What `job` has a hook save at every step."""
    settings = {"save_config": smd.SaveConfig(save_interval=1), "save_all": True, **settings}
    hook = smd.Hook(str(folder), **settings)
    job(hook)
    hook.close()
    return smd.create_trial(str(folder)), hook


def both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: Job, **settings: Any
) -> tuple[Trial, Trial]:
    """The run of `job` as it is on the CPU, and by the way of a device."""
    torch.manual_seed(0)
    expected, _ = run(tmp_path / "cpu", job, **settings)
    monkeypatch.setenv(CPU_AS_DEVICE, "1")
    torch.manual_seed(0)
    found, hook = run(tmp_path / "device", job, **settings)
    assert {name: n for name, n in hook.stats.items() if n and name in ("lost", "errors")} == {}
    return expected, found


def shape_of(tensor: Any, step: int) -> object:
    try:
        return tensor.shape(step)
    except ShapeUnavailableForStep:
        return None


def assert_same(found: Trial, expected: Trial) -> None:
    assert found.steps() == expected.steps()
    assert found.tensor_names() == expected.tensor_names()
    for name in expected.tensor_names():
        tensor, wanted = found.tensor(name), expected.tensor(name)
        assert tensor.steps() == wanted.steps()
        for step in wanted.steps():
            assert shape_of(tensor, step) == shape_of(wanted, step)
            assert tensor.reduction_values(step) == pytest.approx(
                wanted.reduction_values(step), rel=1e-12, abs=1e-12, nan_ok=True
            ), name
            if wanted.saved(step)[0] is not None:
                assert tensor.value(step).dtype == wanted.value(step).dtype
                assert tensor.value(step).tobytes() == wanted.value(step).tobytes(), name


class Give(nn.Module):
    def __init__(self, *values: Tensor) -> None:
        super().__init__()
        self.values = values

    def forward(self) -> tuple[Tensor, ...]:
        return self.values


def give(*values: Tensor) -> Job:
    def job(hook: smd.Hook) -> None:
        module = Give(*values)
        hook.register_module(module)
        module()

    return job


def sample(dtype: torch.dtype) -> list[Tensor]:
    """Tensors of every size that is handled in a way of its own."""
    values = torch.randn(3 << 19) * 3
    kept = [values[:1], values[:5], values[:4096], values[:4097], values[:20_000].view(8, -1).t()]
    kept += [values, values[: (1 << 20) + 65536], torch.zeros(0, 3), values[:2].reshape(2, 1)]
    return [value.to(dtype) for value in kept]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("settings", ["raw", "reduced", "reduced, with what needs all values"])
def test_every_dtype_is_what_it_is_on_the_cpu(
    name: str, settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f"this torch has no {name}")
    config = {"raw": None, "reduced": WITHOUT_CONTENT}.get(settings, REDUCTIONS)
    job = give(*sample(dtype))
    assert_same(*reversed(both(tmp_path, monkeypatch, job, reduction_config=config)))


@pytest.mark.parametrize("config", [WITHOUT_CONTENT, REDUCTIONS])
def test_what_is_not_finite_is_reduced_as_on_the_cpu(
    config: smd.ReductionConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    infinity, nan = float("inf"), float("nan")
    values = [
        [infinity],
        [nan, 1],
        [-infinity, 2],
        [infinity, -infinity, 0.0],
        [0.0, -0.0],
        [1e308],
    ]
    tensors = [torch.tensor(value, dtype=torch.float64) for value in values]
    for odd in (infinity, nan):
        for place in (0, 5000, 9999):
            tensors.append(torch.ones(10_000).index_fill(0, torch.tensor(place), odd))
    expected, found = both(tmp_path, monkeypatch, give(*tensors), reduction_config=config)
    assert_same(found, expected)


def test_shapes_histograms_and_losses_are_those_of_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def job(hook: smd.Hook) -> None:
        hook.get_collection("biases").reduction_config = smd.ReductionConfig(save_shape=True)
        train(hook)

    settings: dict[str, Any] = {"save_all": False, "export_tensorboard": True}
    settings["include_collections"] = ["weights", "biases", "losses"]
    expected, found = both(tmp_path, monkeypatch, job, **settings)
    assert_same(found, expected)


class Net(nn.Module):
    """Changes in place what its first layer gives, after the hook has seen it."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(20, 30)
        self.act = nn.ReLU(inplace=True)
        self.out = nn.Linear(30, 4)

    def forward(self, value: Tensor) -> Tensor:
        return self.out(self.act(self.fc(value)))


def train(hook: smd.Hook | None, steps: int = 4) -> list[Tensor]:
    """What a short training ends with."""
    net, loss = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    if hook is not None:
        hook.register_module(net)
        hook.register_loss(loss)
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=False)
        value = loss(net(torch.randn(8, 20)), torch.arange(8) % 4)
        value.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.01)
        optimizer.step()
    return [parameter.detach() for parameter in net.parameters()]


@pytest.mark.parametrize("config", [None, WITHOUT_CONTENT])
def test_a_training_is_unchanged_and_saved_as_on_the_cpu(
    config: smd.ReductionConfig | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[list[bytes]] = []

    def job(hook: smd.Hook) -> None:
        ends.append([value.numpy().tobytes() for value in train(hook)])

    expected, found = both(tmp_path, monkeypatch, job, reduction_config=config)
    assert_same(found, expected)
    torch.manual_seed(0)
    bare = [value.numpy().tobytes() for value in train(None)]
    assert ends == [bare, bare]


@pytest.mark.usefixtures("as_device")
def test_gradients_are_not_kept_from_becoming_those_of_the_parameters(tmp_path: Path) -> None:
    # PyTorch takes a gradient over, without a copy, if nobody else has it.
    def is_taken_over(hook: smd.Hook | None) -> bool:
        net = nn.Linear(300, 200)
        if hook is not None:
            hook.register_module(net)
        seen: list[int] = []
        net(torch.randn(4, 300)).sum().backward()
        assert net.weight.grad is not None
        net.weight.grad = None
        handle = net.weight.register_hook(lambda gradient: seen.append(gradient.data_ptr()))
        net(torch.randn(4, 300)).sum().backward()
        handle.remove()
        return seen == [net.weight.grad.data_ptr()]

    assert is_taken_over(None)
    taken: list[bool] = []
    _, hook = run(tmp_path / "run", lambda hook: taken.append(is_taken_over(hook)))
    assert taken == [True]
    assert hook.stats["steps_saved"] == 2


@pytest.mark.usefixtures("as_device")
def test_no_tensor_of_the_training_is_kept(tmp_path: Path) -> None:
    hook = smd.Hook(str(tmp_path / "run"), save_all=True)
    outputs: list[weakref.ref[Tensor]] = []

    class Noting(nn.Linear):
        def forward(self, value: Tensor) -> Tensor:
            output = super().forward(value)
            outputs.append(weakref.ref(output))
            return output

    net = Noting(4, 4)
    hook.register_module(net)
    net(torch.randn(2, 4)).sum().backward()
    gradient = net.weight.grad
    assert gradient is not None
    outputs.append(weakref.ref(gradient))
    del gradient
    net.weight.grad = None
    gc.collect()
    assert [output() for output in outputs] == [None, None]
    hook.close()


@pytest.mark.usefixtures("as_device")
def test_memory_is_bounded_by_the_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_BUFFER_MB", "1")
    large, small = torch.randn(1 << 20), list(torch.randn(600, 1000))  # 4 and 2.4 MB.
    module = Give(large, *small)

    def job(hook: smd.Hook) -> None:
        hook.register_module(module)
        module()
        module()

    trial, hook = run(tmp_path / "run", job)
    assert {name: hook.stats[name] for name in ("dropped", "lost", "errors", "skipped")} == {
        "dropped": 0, "lost": 0, "errors": 0, "skipped": 0
    }  # fmt: skip
    for step in (0, 1):
        np.testing.assert_array_equal(trial.tensor("Give_output_0").value(step), large.numpy())
        np.testing.assert_array_equal(trial.tensor("Give_output_600").value(step), small[-1])


@pytest.mark.usefixtures("as_device")
def test_what_finds_no_room_is_dropped_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_BUFFER_MB", "1")
    monkeypatch.setenv("SMDEBUG_ON_FULL", "drop")
    modules = [Give(torch.randn(1 << 20)) for _ in range(2)]

    def job(hook: smd.Hook) -> None:
        for module in modules:
            hook.register_module(module)
            module()

    trial, hook = run(tmp_path / "run", job)
    stored = sum(len(trial.tensor(name).steps()) for name in trial.tensor_names())
    assert stored + hook.stats["dropped"] == 2


@pytest.mark.parametrize(
    "value",
    [torch.tensor(0.1), torch.tensor([3]), torch.tensor(True), torch.tensor(2.5).bfloat16()],
)
def test_scalars_are_those_of_the_cpu(
    value: Tensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def job(hook: smd.Hook) -> None:
        hook.save_scalar("before", value)
        net = nn.Linear(2, 2)
        hook.register_module(net)
        for _ in range(3):
            net(torch.ones(1, 2))
            hook.save_scalar("each", value)
        hook.set_mode("EVAL")
        net(torch.ones(1, 2))
        hook.save_scalar("earlier", value, step=1)
        hook.save_scalar("evaluated", value, timestamp=5.0)

    settings = {"save_config": smd.SaveConfig(save_interval=2)}
    expected, found = both(tmp_path, monkeypatch, job, **settings)
    assert_same(found, expected)
    assert found.tensor("scalar/each").steps() == [0, 1, 2]
    assert found.tensor("scalar/earlier").steps() == [1]


@pytest.mark.usefixtures("as_device")
def test_a_scalar_that_is_no_number_is_left_out(tmp_path: Path) -> None:
    net = nn.Linear(2, 2)

    def job(hook: smd.Hook) -> None:
        hook.register_module(net)
        net(torch.ones(1, 2))
        hook.save_scalar("two", torch.ones(2))
        hook.save_scalar("one", torch.ones(()))

    trial, hook = run(tmp_path / "run", job)
    assert trial.tensor_names(regex="^scalar/") == ["scalar/one"]
    assert hook.stats["skipped"] == 1


def test_tensors_of_the_script_and_of_the_next_step_are_those_of_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def job(hook: smd.Hook) -> None:
        value = torch.zeros(3)
        hook.save_tensor("before", value, ["mine"])
        value += 1
        net = nn.Linear(3, 3)
        hook.register_module(net)
        for _ in range(3):
            hook.save_tensor("between", value, ["mine", "other"])
            net(value)
            value += 1
            hook.record_tensor_value("recorded", value)
            hook.save_tensor("within", value)
            value += 1

    assert_same(*reversed(both(tmp_path, monkeypatch, job)))


@pytest.mark.usefixtures("as_device")
def test_a_flush_hands_over_what_was_taken(tmp_path: Path) -> None:
    hook = smd.Hook(str(tmp_path / "run"), save_all=True)
    net = nn.Linear(2, 2)
    hook.register_module(net)
    net(torch.ones(1, 2))
    hook.save_scalar("mine", torch.tensor(4.0))
    hook.end_step()
    assert hook.flush()
    trial = smd.create_trial(str(tmp_path / "run"))
    assert "Linear_weight" in trial.tensor_names()
    assert trial.tensor("scalar/mine").value(0) == 4
    hook.close()


@pytest.mark.usefixtures("as_device")
def test_what_fails_on_the_device_is_left_out_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr("smdebug.pytorch.device_reductions._reduce_rows", fail)
    job = give(torch.ones(3), torch.ones(4))
    _, hook = run(tmp_path / "run", job, reduction_config=WITHOUT_CONTENT)
    assert hook.stats["skipped"] == 2
    assert hook.stats["dropped"] == 0
