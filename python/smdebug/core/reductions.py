"""Names of reductions as run files hold them, and reductions of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from smdebug.core.reduction_config import ALLOWED_NORMS, ALLOWED_REDUCTIONS
from smdebug.exceptions import SMDebugValueError

REDUCTIONS_PREFIX = "smdebug/reductions/"

Array = np.ndarray[Any, np.dtype[Any]]


def get_reduction_tensor_name(
    tensorname: str, reduction_name: str, abs: bool, remove_colon_index: bool = True
) -> str:
    """The name under which a reduction of a tensor is saved.

    What follows a colon is left out, unless `remove_colon_index` is off.
    """
    if remove_colon_index:
        tensorname = tensorname.partition(":")[0]
    return f"{REDUCTIONS_PREFIX}{'abs_' if abs else ''}{reduction_name}/{tensorname}"


def reverse_reduction_tensor_name(reduction_tensor_name: str) -> tuple[str, str, bool]:
    """Tensor, reduction and whether it is of absolute values, from such a name."""
    prefix, _, rest = reduction_tensor_name.partition(REDUCTIONS_PREFIX)
    reduction, slash, tensor = rest.partition("/")
    if prefix or not slash:
        raise SMDebugValueError(f"'{reduction_tensor_name}' is not the name of a reduction")
    return tensor, reduction.removeprefix("abs_"), reduction.startswith("abs_")


def get_basic_numpy_reduction(reduction_name: str, numpy_data: Array) -> Any:
    """A reduction of all elements. Norms are element-wise."""
    if reduction_name in ALLOWED_NORMS:
        return np.linalg.norm(numpy_data.ravel(), ord=int(reduction_name.removeprefix("l")))
    if reduction_name not in ALLOWED_REDUCTIONS:
        allowed = ", ".join([*ALLOWED_REDUCTIONS, *ALLOWED_NORMS])
        raise SMDebugValueError(
            f"reduction: '{reduction_name}' is not allowed; expected one of {allowed}"
        )
    return getattr(np, "var" if reduction_name == "variance" else reduction_name)(numpy_data)


def get_numpy_reduction(reduction_name: str, numpy_data: Array, abs: bool = False) -> Any:
    """The same, of the absolute values if asked for."""
    return get_basic_numpy_reduction(reduction_name, np.abs(numpy_data) if abs else numpy_data)
