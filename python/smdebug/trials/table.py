"""Runs as tables of pandas.

There is one row for each step, worker and tensor, with the columns

- `step`, over all modes; `mode`, by name; `mode_step`, within the mode;
- `worker` and `tensor`, by name;
- `value`: that of a tensor with one element, of a complex one its magnitude; NaN
  for any other;
- one column for each reduction, such as `mean` or `abs_max`, that was saved for any
  of the tensors or was asked for; NaN where there is none.

Incomplete steps are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from smdebug import _core
from smdebug._internal import checks

if TYPE_CHECKING:
    import pandas

    from smdebug.trials.trial import Trial


def make(
    trial: Trial,
    names: list[str],
    mode: int,
    worker: str | None,
    reductions: str | Iterable[str] | None,
) -> pandas.DataFrame:
    """The table of some tensors, of one worker or of all."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from error
    asked = checks.names("reductions", reductions, "the name of a reduction")
    columns = _core.table(trial._reader, names, mode, worker, asked)
    for name, column in columns.items():
        if isinstance(column, tuple):
            places, texts = column
            columns[name] = np.array(texts, dtype=object)[places]
    return pandas.DataFrame(columns)
