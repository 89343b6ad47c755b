"""Tensors of every kind are saved as they are, or counted with the reason why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.torch_hooks import MakeHook, ReadRun
from torch import Tensor, nn

DTYPES = [
    *("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64"),
    *("bool", "complex128", "complex64"),
]


class Produce(nn.Module):
    """Gives what it was made with."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def forward(self) -> Any:
        return self.value


def save_output(hook: Any, value: Any) -> None:
    module = Produce(value)
    hook.register_module(module)
    module()


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_arrives_as_it_is(name: str, make_hook: MakeHook, read_run: ReadRun) -> None:
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f"this torch has no {name}")
    value = torch.tensor([[0, 1, 2], [3, 1, 0]]).to(dtype)
    save_output(make_hook(save_all=True), value)
    saved = read_run().tensor("Produce_output_0").value(0)
    assert saved.dtype.name == name
    kept = saved.astype(np.complex128) if value.is_complex() else saved.astype(np.float64)
    np.testing.assert_array_equal(
        kept, value.to(torch.complex128 if value.is_complex() else torch.float64).numpy()
    )


def _sparse() -> Tensor:
    return torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([5.0, 6.0]), (2, 2))


KINDS: dict[str, Callable[[], Tensor]] = {
    "transposed": lambda: torch.arange(6.0).reshape(2, 3).t(),
    "strided": lambda: torch.arange(20.0)[::3],
    "expanded": lambda: torch.ones(1, 3).expand(4, 3),
    "offset": lambda: torch.arange(10.0)[3:7],
    "scalar": lambda: torch.tensor(4.5),
    "needing a gradient": lambda: torch.ones(3, requires_grad=True) * 2,
    "sparse": _sparse,
    "conjugate": lambda: torch.tensor([1 + 2j, 3 - 1j]).conj(),
    "negated": lambda: torch.tensor([1 + 2j]).conj().imag,
    "quantised": lambda: torch.quantize_per_tensor(torch.tensor([1.0, 2.0]), 0.5, 0, torch.qint8),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.*deprecated.*", "ignore:.*sparse.*")
def test_every_kind_of_memory_arrives(kind: str, make_hook: MakeHook, read_run: ReadRun) -> None:
    value = KINDS[kind]()
    hook = make_hook(save_all=True)
    save_output(hook, value)
    plain = value.dequantize() if value.is_quantized else value.to_dense()
    saved = read_run().tensor("Produce_output_0").value(0)
    np.testing.assert_array_equal(saved, plain.detach().resolve_conj().resolve_neg().numpy())
    assert hook.stats["skipped"] == 0


def test_an_empty_tensor_has_its_shape(make_hook: MakeHook, read_run: ReadRun) -> None:
    save_output(make_hook(save_all=True), torch.zeros(0, 3))
    assert read_run().tensor("Produce_output_0").shape(0) == (0, 3)


def test_reductions_are_those_of_the_values(make_hook: MakeHook, read_run: ReadRun) -> None:
    from smdebug.pytorch import ReductionConfig

    hook = make_hook(
        save_all=True,
        reduction_config=ReductionConfig(reductions=["min", "mean", "std"], norms=["l2"]),
    )
    value = torch.randn(7, 5).t()
    save_output(hook, value)
    tensor = read_run().tensor("Produce_output_0")
    assert tensor.reduction_value(0, "min").item() == value.min().item()
    assert tensor.reduction_value(0, "mean").item() == pytest.approx(value.double().mean().item())
    # PyTorch's own: of a sample.
    assert tensor.reduction_value(0, "std").item() == pytest.approx(value.double().std().item())
    assert tensor.reduction_value(0, "l2").item() == pytest.approx(value.double().norm().item())


def _skipped(run_dir: Path) -> dict[str, str]:
    ledger = json.loads((run_dir / "ledger/worker_0.json").read_text())
    messages: dict[str, str] = ledger["messages"]
    return messages


UNSUPPORTED: dict[str, tuple[Callable[[], Tensor], str]] = {
    "meta": (lambda: torch.zeros(2, device="meta"), "meta device"),
    "lazy": (lambda: nn.LazyLinear(3).weight, "not initialised"),
    "too large when dense": (
        lambda: torch.sparse_coo_tensor(size=(1 << 20, 1 << 20)),
        "sparse and would take more",
    ),
}


@pytest.mark.parametrize("kind", UNSUPPORTED)
@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_what_cannot_be_saved_is_counted_with_the_reason(
    kind: str, make_hook: MakeHook, run_dir: Path
) -> None:
    make, reason = UNSUPPORTED[kind]
    hook = make_hook(save_all=True)
    save_output(hook, (make(), torch.ones(1)))
    hook.close()
    assert hook.stats["skipped"] == 1
    assert any(reason in message for message in _skipped(run_dir).values())
    assert hook.stats["values_saved"] == 1
    assert hook.stats["tensors_saved"] == 1  # The name that it had first.


def test_a_tensor_class_that_fails_is_counted_and_training_goes_on(
    make_hook: MakeHook, run_dir: Path
) -> None:
    class Hostile(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_: Any, **__: Any) -> Any:
            raise RuntimeError("do not touch")

    hook = make_hook(save_all=True)
    save_output(hook, torch.ones(2).as_subclass(Hostile))
    hook.close()
    assert hook.stats["skipped"] == 1
    assert any("do not touch" in message for message in _skipped(run_dir).values())


def test_sparse_gradients_of_an_embedding_are_saved_dense(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook(include_collections=["gradients"])
    net = nn.Embedding(5, 2, sparse=True)
    hook.register_module(net)
    net(torch.tensor([1, 3])).sum().backward()
    expected = np.zeros((5, 2))
    expected[[1, 3]] = 1
    np.testing.assert_array_equal(read_run().tensor("gradient/Embedding_weight").value(0), expected)
