"""Data sets that a hook is given, as XGBoost takes them."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from smdebug.exceptions import SMDebugError

_CONTENT_TYPES = {
    "csv": "csv",
    "text/csv": "csv",
    "libsvm": "libsvm",
    "text/libsvm": "libsvm",
    "text/x-libsvm": "libsvm",
}

_ALLOWED = (
    "an xgboost.DMatrix, an array, a sparse matrix or a data frame, a pair of one of them and its "
    "labels, or (path, content type)"
)


def load_data(what: str, data: Any) -> Any:
    """The DMatrix that `data` is or holds; None for None.

    `what` names it in an error, which is an SMDebugError.
    """
    if data is None:
        return None
    import xgboost

    if isinstance(data, xgboost.DMatrix):
        return data
    if isinstance(data, (str, bytes, os.PathLike)):
        raise SMDebugError(f"{what}={data!r} has no content type; allowed: {_ALLOWED}")
    labels = None
    if isinstance(data, tuple):
        if len(data) != 2:
            raise SMDebugError(f"{what} is a tuple of {len(data)}; allowed: {_ALLOWED}")
        if isinstance(data[0], (str, os.PathLike)):
            return _load_file(what, os.fspath(data[0]), data[1])
        data, labels = data
    if not hasattr(data, "shape") and not isinstance(data, list):
        raise SMDebugError(f"{what} is a {type(data).__name__}; allowed: {_ALLOWED}")
    try:
        rows = np.asarray(data, dtype=np.float32) if isinstance(data, list) else data
        return xgboost.DMatrix(rows, label=labels, enable_categorical=True)
    except Exception as error:
        raise SMDebugError(f"{what} cannot be used ({error}); allowed: {_ALLOWED}") from error


def _load_file(what: str, path: str, content_type: object) -> Any:
    import xgboost

    # As in smdebug 1.0, a file without a content type is of libsvm.
    name = "libsvm" if content_type is None else str(content_type).lower()
    if name not in _CONTENT_TYPES:
        allowed = ", ".join(_CONTENT_TYPES)
        raise SMDebugError(f"{what} has the content type {content_type!r}; allowed: {allowed}")
    path = os.path.expanduser(path)
    if not os.path.isfile(path):
        raise SMDebugError(f"{what}: there is no local file {path!r}")
    read = _read_csv if _CONTENT_TYPES[name] == "csv" else _read_libsvm
    try:
        rows, labels, weights = read(path)
        return xgboost.DMatrix(rows, label=labels, weight=weights)
    except Exception as error:
        raise SMDebugError(f"{what}: {path!r} is not {_CONTENT_TYPES[name]}: {error}") from error


def _read_csv(path: str) -> tuple[Any, Any, Any]:
    """The label is in the first column. An empty field is a missing value."""
    with open(path, newline="") as file:
        first = file.readline()
        file.seek(0)
        delimiter = _delimiter_of(first)
        lines = [line for line in csv.reader(file, delimiter=delimiter) if line]
    if not lines:
        raise ValueError("it has no rows")
    width = len(lines[0])
    for number, line in enumerate(lines, 1):
        if len(line) != width:
            raise ValueError(f"row {number} has {len(line)} fields, and row 1 has {width}")
    if width < 2:
        raise ValueError(f"a label and at least one feature are needed: {first.strip()[:50]!r}")
    table = np.array(
        [[field if field.strip() else "nan" for field in line] for line in lines], dtype=np.float32
    )
    return table[:, 1:], table[:, 0], None


def _delimiter_of(line: str) -> str:
    counts = {mark: line.count(mark) for mark in (",", "\t", ";", "|", " ")}
    return max(counts, key=lambda mark: counts[mark])


def _read_libsvm(path: str) -> tuple[Any, Any, Any]:
    """Rows of `label[:weight] [qid:number] index:value ...`; indices begin at 0."""
    from scipy.sparse import csr_matrix

    labels: list[float] = []
    weights: list[float] = []
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    with open(path) as file:
        for label, weight, pairs in _libsvm_rows(file):
            labels.append(label)
            weights.append(weight)
            columns += [column for column, _ in pairs]
            values += [value for _, value in pairs]
            ends.append(len(columns))
    if not labels:
        raise ValueError("it has no rows")
    shape = (len(labels), max(columns, default=0) + 1)
    rows = csr_matrix((np.array(values, np.float32), columns, ends), shape=shape)
    return rows, labels, weights if any(weight != 1 for weight in weights) else None


def _libsvm_rows(file: Any) -> Iterator[tuple[float, float, list[tuple[int, float]]]]:
    for number, line in enumerate(file, 1):
        fields = line.split("#", 1)[0].split()
        if not fields:
            continue
        label, _, weight = fields[0].partition(":")
        split = [field.split(":") for field in fields[1:] if not field.startswith("qid:")]
        if any(len(pair) != 2 for pair in split):
            raise ValueError(f"line {number} is not of index:value pairs: {line.strip()[:50]!r}")
        pairs = [(int(column), float(value)) for column, value in split]
        if any(column < 0 for column, _ in pairs):
            raise ValueError(f"line {number} has an index below 0")
        yield float(label), float(weight or 1), pairs
