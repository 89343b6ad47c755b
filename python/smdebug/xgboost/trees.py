"""The trees that a round has added to a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from smdebug import _core

COLUMNS = tuple(_core.xgboost_trees([], 0))
# The columns that do not hold strings.
_KINDS = {
    "Tree": np.int64,
    "Node": np.int64,
    "Split": np.float64,
    "Gain": np.float64,
    "Cover": np.float64,
}


def trees_of_last_round(booster: Any) -> dict[str, Any]:
    """The columns of Booster.trees_to_dataframe(), for the trees of the last round only.

    Several classes or parallel trees make several trees a round. Text columns hold "nan" where a
    node has no such thing; the categories of a split are joined by commas.
    """
    last = booster.num_boosted_rounds() - 1
    dumps = _dump(booster[last : last + 1])
    columns = _core.xgboost_trees(dumps, last * len(dumps))
    if not columns["Node"]:
        return {}
    return {
        name: np.array(values, dtype=_KINDS.get(name, np.str_)) for name, values in columns.items()
    }


def _dump(booster: Any) -> list[str]:
    from xgboost.core import XGBoostError

    try:
        return list(booster.get_dump(with_stats=True))
    except XGBoostError:
        # XGBoost has no statistics of trees with several outputs.
        return list(booster.get_dump())
