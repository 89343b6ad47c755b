"""PyTorch's tensors as the core takes them."""

from __future__ import annotations

import torch

from smdebug import _core
from smdebug._hook.arrays import Description, describe_array

# Where a tensor is not in plain memory of the CPU it is copied there first. One that takes more
# than this as a dense tensor is not made dense.
_MOST_DENSE_BYTES = 256 << 20

# By PyTorch's name; older versions lack some.
DTYPES = {getattr(torch, name): name for name, _ in _core.element_types() if hasattr(torch, name)}


def describe(value: object) -> Description:
    """Where the values of a tensor, or of what NumPy makes an array of, are."""
    if not isinstance(value, torch.Tensor):
        return describe_array(value)
    with torch.no_grad():
        plain = strided(value)
        if isinstance(plain, str):
            return plain
        if plain.device.type != "cpu":
            plain = plain.cpu()
    dtype = DTYPES.get(plain.dtype)
    if dtype is None:
        return f"has the dtype {plain.dtype}, which cannot be saved"
    return plain.data_ptr(), dtype, tuple(plain.shape), plain.stride(), plain


def is_sharded(tensor: torch.Tensor) -> bool:
    """Whether this process holds only a part of the tensor (a DTensor)."""
    return hasattr(tensor, "to_local") and hasattr(tensor, "device_mesh")


def shard_suffix(tensor: torch.Tensor) -> str:
    """What the name of a local part ends in: the place of this process in the device mesh."""
    coordinate = tensor.device_mesh.get_coordinate()
    return "" if coordinate is None else "_shard_" + "_".join(str(place) for place in coordinate)


def strided(tensor: torch.Tensor) -> torch.Tensor | str:
    """The same values as a strided tensor, where they are, or why there is none."""
    if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
        return "is not initialised yet"
    if is_sharded(tensor):
        tensor = tensor.to_local()
    if type(tensor).__name__ in ("FakeTensor", "FunctionalTensor"):
        return "has no values while the model is traced"
    if tensor.device.type == "meta":
        return "is on the meta device"
    if getattr(tensor, "is_nested", False):
        return "is nested"
    tensor = tensor.detach()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout is not torch.strided:
        if tensor.numel() * tensor.element_size() > _MOST_DENSE_BYTES:
            return f"is sparse and would take more than {_MOST_DENSE_BYTES >> 20} MB"
        tensor = tensor.to_dense()
    return tensor.resolve_conj().resolve_neg()
