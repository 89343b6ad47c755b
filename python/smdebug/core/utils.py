"""Helpers that scripts import: paths of a run, names of workers, lists."""

from __future__ import annotations

import json
import os
import re
import socket
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Callable

import numpy as np

from smdebug._internal.passed_on import passed_on
from smdebug._internal.simulators import SagemakerSimulator as SagemakerSimulator
from smdebug._internal.simulators import ScriptSimulator as ScriptSimulator
from smdebug.core.config_constants import CLAIM_FILENAME
from smdebug.exceptions import IndexReaderException, SMDebugTypeError, SMDebugValueError

__getattr__ = passed_on(__name__)


class FRAMEWORK(Enum):
    """What trains."""

    PYTORCH = "pytorch"
    TENSORFLOW = "tensorflow"
    MXNET = "mxnet"
    XGBOOST = "xgboost"


def flatten(lis: Iterable[Any]) -> list[Any]:
    """The items of a list, with those of lists in it in their place."""
    items: list[Any] = []
    for item in lis:
        if isinstance(item, list):
            items.extend(flatten(item))
        else:
            items.append(item)
    return items


def split(comma_separated_string: str) -> list[str]:
    """The items between commas, without blanks around them."""
    return [item.strip() for item in comma_separated_string.split(",")]


def merge_two_dicts(x: dict[Any, Any], y: dict[Any, Any]) -> dict[Any, Any]:
    """Both; where they differ, the second."""
    return {**x, **y}


def load_json_as_dict(s: str | None) -> dict[str, Any] | None:
    """The object that `s` holds; None for None."""
    if s is None:
        return None
    loaded: dict[str, Any] = json.loads(s)
    return loaded


def match_inc(tname: str, include: str | Iterable[str]) -> bool:
    """Whether any of the patterns, or the only one, matches somewhere in the name."""
    include = [include] if isinstance(include, str) else include
    return any(re.search(pattern, tname) for pattern in include)


def index(sorted_list: Sequence[Any], elem: object) -> int:
    """Where `elem` is; SMDebugValueError if it is not there."""
    place = bisect_left(sorted_list, elem)
    if place == len(sorted_list) or sorted_list[place] != elem:
        raise SMDebugValueError(f"{elem!r} is not in the list")
    return place


def step_in_range(range_steps: tuple[int | None, int | None] | None, step: int) -> bool:
    """Whether begin <= step < end, where None is no bound."""
    if range_steps is None:
        return True
    begin, end = range_steps
    return (begin is None or step >= int(begin)) and (end is None or step < int(end))


def is_s3(path: str) -> tuple[bool, str | None, str | None]:
    """Whether `path` is of S3, with bucket and prefix if it is."""
    if not path.startswith("s3://"):
        return False, None, None
    bucket, _, prefix = path.removeprefix("s3://").partition("/")
    return True, bucket, prefix


def get_path_to_collections(directory: str) -> str:
    """The folder of a run's collections files."""
    return os.path.join(directory, "collections", "000000000", "")


def get_path_to_events_directory(path: str) -> str:
    """The folder of a run's event files."""
    return os.path.join(path, "events", "")


def get_relative_event_file_path(path: str) -> str:
    """The last three parts of an event file's path, which the index holds."""
    return os.path.join(*Path(path).parts[-3:])


def list_collection_files_in_directory(directory: str) -> list[str]:
    """The collections files below a folder, sorted."""
    return sorted(list_files_in_directory(directory, r".*_?collections\.json$"))


def list_files_in_directory(directory: str, file_regex: str | None = None) -> list[str]:
    """All files below a folder whose name matches."""
    return [
        os.path.join(folder, name)
        for folder, _, names in os.walk(directory)
        for name in names
        if file_regex is None or re.match(file_regex, name)
    ]


def get_immediate_subdirectories(a_dir: str) -> list[str]:
    """The names of the folders in a folder."""
    return [entry.name for entry in os.scandir(a_dir) if entry.is_dir()]


def serialize_tf_device(device: str) -> str:
    """A TensorFlow device's name as file names have it."""
    return device.replace("/", "_").replace(":", "-")


def deserialize_tf_device(device_name: str) -> str:
    """The inverse of serialize_tf_device()."""
    return device_name.replace("_", "/").replace("-", ":")


def parse_worker_name_from_file(filename: str) -> str:
    """The worker in the name of an event or index file."""
    found = re.search(r"\d+_(.*)\.(?:json|csv|tfevents)$", os.path.basename(filename))
    if found is None:
        raise IndexReaderException(f"Invalid File Found: {filename}")
    return _worker(found[1])


def get_worker_name_from_collection_file(filename: str) -> str:
    """The worker in the name of a collections file."""
    found = re.search(r"^(.*?)_?collections\.(?:json|ts)$", os.path.basename(filename))
    if found is None:
        raise IndexReaderException(f"Invalid File Found: {filename}")
    return _worker(found[1])


def _worker(name: str) -> str:
    return deserialize_tf_device(name) if name.startswith("_") else name


def ensure_dir(file_path: str, is_file: bool = True) -> None:
    """Makes the folder, or that of the file."""
    folder = os.path.dirname(file_path) if is_file else file_path
    if folder:
        os.makedirs(folder, exist_ok=True)


def remove_file_if_exists(file_path: str) -> None:
    """Removes a file, if there is one."""
    Path(file_path).unlink(missing_ok=True)


def remove_claim_file(path: str) -> None:
    """Removes a run's claim, if there is one."""
    remove_file_if_exists(os.path.join(path, CLAIM_FILENAME))


def is_first_process(path: str, is_dir: bool = True) -> bool:
    """Whether this process is the first to claim `path`; of several one wins.

    A path of S3 cannot be claimed: there every process is the first.
    """
    if is_s3(path)[0]:
        return True
    ensure_dir(path, is_file=not is_dir)
    claim = os.path.join(path, CLAIM_FILENAME) if is_dir else path
    try:
        os.close(os.open(claim, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def get_tb_worker() -> str:
    """What the names of TensorBoard files call this process."""
    return f"{os.getpid()}_{socket.gethostname()}"


def make_numpy_array(x: object) -> np.ndarray[Any, np.dtype[Any]]:
    """The array that `x` holds, however it holds it; a number or a string becomes one element."""
    if isinstance(x, np.ndarray):
        return x
    if isinstance(x, (bool, int, float, complex, str, bytes, np.generic)):
        return np.array([x])
    if isinstance(x, (list, tuple, dict)):
        return np.asarray(x)
    if hasattr(x, "numpy"):
        array: np.ndarray[Any, np.dtype[Any]] = x.numpy()
        return array
    raise SMDebugTypeError(f"{type(x)} cannot be made an array")


def size_and_shape(t: Any) -> tuple[int, Sequence[int]]:
    """Bytes and shape of a tensor, a string or a number."""
    if isinstance(t, (str, bytes)):
        return len(t), [len(t)]
    array = t if hasattr(t, "nbytes") else make_numpy_array(t)
    return array.nbytes, array.shape


def validate_custom_tensor_value(
    tensor_value: object, make_numpy_fn: Callable[[Any], object]
) -> bool:
    """Whether `make_numpy_fn` takes all that the value holds."""
    try:
        for item in flatten([tensor_value]):
            make_numpy_fn(item)
    except TypeError:
        return False
    return True
