"""Data sets that a hook is given, as XGBoost takes them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from smdebug import _core
from smdebug.exceptions import SMDebugError

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
        reason = str(error).partition("Stack trace:")[0].strip()
        raise SMDebugError(f"{what} cannot be used ({reason}); allowed: {_ALLOWED}") from error


def _load_file(what: str, path: str, content_type: object) -> Any:
    import xgboost

    # As in smdebug 1.0, a file without a content type is of libsvm.
    kind = "libsvm" if content_type is None else str(content_type)
    path = os.path.expanduser(path)
    rows, labels, weights, columns, starts, shape = _core.read_xgboost_data(what, path, kind)
    if starts is not None:
        from scipy.sparse import csr_matrix

        nothing = np.empty(0, np.float32), np.empty(0, np.int64)
        values, places = nothing if rows is None else (rows, columns)
        rows = csr_matrix((values, places, starts), shape=shape)
    return xgboost.DMatrix(rows, label=labels, weight=weights)
