"""NumPy arrays, and what becomes one, as the core takes them."""

from __future__ import annotations

import functools
from typing import Any, Union

import numpy as np

from smdebug import _core
from smdebug.core.logger import get_logger
from smdebug.exceptions import SMDebugTypeError

# Where the values are: (address, dtype, shape, strides in elements, owner of the memory), or
# (texts, "str", shape, None, owner), or why there are none. See python/src/borrowed_tensor.h.
Description = Union[tuple[Any, str, tuple[int, ...], Union[tuple[int, ...], None], Any], str]

_NUMBERS = [(name, in_numpy) for name, in_numpy in _core.element_types() if name != "str"]
# NumPy works a name out anew each time it is asked for.
_NAME_OF = {np.dtype(name): name for name, in_numpy in _NUMBERS if in_numpy}
# Of packages that add to NumPy's.
_OTHER_NAMES = {name for name, in_numpy in _NUMBERS if not in_numpy}


def describe_array(value: object) -> Description:
    """Where the values of an array, or of what NumPy makes an array of, are."""
    array = np.asarray(value)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        _say_once("a masked array is saved without its mask, with the values that lie under it")
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and _is_text(array)):
        texts = [_text(item) for item in array.ravel().tolist()]
        if array.ndim > 1:
            _say_once(f"strings are saved as a list: the shape {array.shape} is not kept")
        return texts, "str", (len(texts),), None, array
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    dtype = array.dtype
    name = _NAME_OF.get(dtype) or dtype.name
    if dtype not in _NAME_OF and name not in _OTHER_NAMES:
        return f"has the dtype {name}, which cannot be saved"
    size = dtype.itemsize
    if any(stride % size for stride in array.strides):
        array = np.ascontiguousarray(array)
    strides = tuple(stride // size for stride in array.strides)
    return array.__array_interface__["data"][0], name, array.shape, strides, array


@functools.lru_cache(maxsize=64)
def _say_once(words: str) -> None:
    get_logger().warning(words)


def _is_text(array: np.ndarray[Any, Any]) -> bool:
    return all(isinstance(item, (str, bytes)) for item in array.ravel().tolist())


def _text(item: object) -> str:
    return item.decode(errors="replace") if isinstance(item, bytes) else str(item)


def one_number(key: str, value: object) -> float:
    """The one number in `value`; SMDebugTypeError, which names `key`, if it is not one number."""
    try:
        if isinstance(value, (bool, int, float)):
            return float(value)
        item = value.item() if hasattr(value, "item") else np.asarray(value).item()
        if isinstance(item, (str, bytes)):
            raise TypeError(f"{item!r} is a string")
        return float(item)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise SMDebugTypeError(f"{key} is not one number: {error}") from error
