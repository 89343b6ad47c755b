"""The trees that a round has added to a model."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

# A line of XGBoost's text dump. Names of features have no brackets.
_NODE = re.compile(
    r"^\t*(?P<node>\d+):(?:"
    r"\[(?P<condition>.*)\] yes=(?P<yes>\d+),no=(?P<no>\d+)(?:,missing=(?P<missing>\d+))?"
    r"|leaf=(?P<leaf>\[[^\]]*\]|[^,\n]*)"
    r")(?:,gain=(?P<gain>[^,\n]*))?(?:,cover=(?P<cover>[^,\n]*))?",
    re.MULTILINE,
)

_TEXTS = ("ID", "Feature", "Yes", "No", "Missing", "Category")
_NUMBERS = ("Split", "Gain", "Cover")
COLUMNS = (
    *("Tree", "Node", "ID", "Feature", "Split", "Yes", "No", "Missing", "Gain", "Cover"),
    "Category",
)


def trees_of_last_round(booster: Any) -> dict[str, Any]:
    """The columns of Booster.trees_to_dataframe(), for the trees of the last round only.

    Several classes or parallel trees make several trees a round. Text columns hold "nan" where a
    node has no such thing; the categories of a split are joined by commas.
    """
    last = booster.num_boosted_rounds() - 1
    dumps = _dump(booster[last : last + 1])
    first = last * len(dumps)
    rows = [
        row
        for number, dump in enumerate(dumps, first)
        for row in sorted(_rows(number, dump), key=lambda row: int(row[1]))
    ]
    columns = dict(zip(COLUMNS, zip(*rows)))
    return {name: _array(name, columns[name]) for name in COLUMNS} if rows else {}


def _dump(booster: Any) -> list[str]:
    from xgboost.core import XGBoostError

    try:
        return list(booster.get_dump(with_stats=True))
    except XGBoostError:
        # XGBoost has no statistics of trees with several outputs.
        return list(booster.get_dump())


def _rows(tree: int, dump: str) -> list[tuple[Any, ...]]:
    rows = []
    for found in _NODE.finditer(dump):
        node = found["node"]
        row = _leaf(found) if found["condition"] is None else _split(tree, found)
        rows.append((tree, int(node), f"{tree}-{node}", *row))
    return rows


def _leaf(found: re.Match[str]) -> tuple[Any, ...]:
    # The leaf of a tree with several outputs has no one value.
    value = "nan" if found["leaf"].startswith("[") else found["leaf"]
    none = ("nan", "nan", "nan")
    return ("Leaf", "nan", *none, value, found["cover"] or "nan", "nan")


def _split(tree: int, found: re.Match[str]) -> tuple[Any, ...]:
    name, split, categories = _condition(found["condition"])
    branches = (found["yes"], found["no"], found["missing"])
    targets = ["nan" if node is None else f"{tree}-{node}" for node in branches]
    return (name, split, *targets, found["gain"] or "nan", found["cover"] or "nan", categories)


def _condition(text: str) -> tuple[str, str, str]:
    """Feature, value and categories of a split; a yes-or-no feature has neither of the two."""
    name, mark, value = text.rpartition("<")
    if mark:
        return name, value, "nan"
    name, mark, categories = text.rpartition(":{")
    if mark:
        return name, "nan", categories.rstrip("}")
    return text, "nan", "nan"


def _array(name: str, values: tuple[Any, ...]) -> Any:
    if name in _TEXTS:
        return np.array(values, dtype=np.str_)
    return np.array(values, dtype=np.float64 if name in _NUMBERS else np.int64)
