"""How much each feature has to do with a model's splits."""

from __future__ import annotations

from typing import Any

import numpy as np

IMPORTANCE_TYPES = ("weight", "gain", "cover", "total_gain", "total_cover")


def feature_shares(booster: Any) -> tuple[list[str], Any]:
    """The features that occur, and the share of each by every type, a row per type.

    A row is what Booster.get_score() gives for the type, divided by its sum. The averages "gain"
    and "cover" follow from the totals, so that the trees are gone through thrice.
    """
    counts = booster.get_score(importance_type="weight")
    names = list(counts)
    totals = [booster.get_score(importance_type=kind) for kind in ("total_gain", "total_cover")]
    # In single precision, as XGBoost divides.
    weight, gain, cover = (
        np.array([score[name] for name in names], dtype=np.float32) for score in (counts, *totals)
    )
    scores = np.stack([weight, gain / weight, cover / weight, gain, cover]).astype(np.float64)
    sums = scores.sum(axis=1, keepdims=True)
    # Where all gains are 0, no feature has more of them than another.
    shares = np.divide(scores, sums, out=np.zeros_like(scores), where=sums != 0)
    return names, shares
