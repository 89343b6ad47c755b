"""Compares what is told about two runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from compat_torch.differences import Told, as_ours
from compat_torch.package import Package
from compat_torch.plans import Plan


def _take_reductions(told: Told) -> dict[Any, float]:
    return {
        (name, *key, *reduction): value
        for name, tensor in told["tensors"].items()
        for key, found in tensor.pop("reductions").items()
        for reduction, value in found.items()
    }


def check_equal(told: Told, expected: Told) -> None:
    """All but reductions is the same to the last bit; these are computed in float32 by 1.0.

    Where numbers cancel, float32 is as exact as the sum of their magnitudes allows.
    """
    reductions, expected_reductions = _take_reductions(told), _take_reductions(expected)
    assert reductions.keys() == expected_reductions.keys()
    for key, value in reductions.items():
        wanted = expected_reductions[key]
        if not (math.isnan(value) and math.isnan(wanted)):
            *where, _ = key
            magnitude = reductions.get((*where, True), 1.0)
            close = max(2e-6, 2e-6 * magnitude) if where[-1] == "sum" else 2e-6
            assert value == pytest.approx(wanted, rel=2e-5, abs=close), key
    assert told["names"] == expected["names"]
    for part in expected:
        assert told[part] == expected[part], part
    assert told.keys() == expected.keys()


def check_plan(plan: Plan, reference: Package, own: Package, folder: Path) -> Told:
    """Both train by the plan, and both read both runs. Gives what ours tells about our run.

    Its reductions are compared, and gone.
    """
    theirs, ours = folder / "theirs", folder / "ours"
    reference.train(plan, theirs)
    own.train(plan, ours)
    by_both = reference.tell(theirs)
    readers = {"ours": own, "theirs": reference}
    runs = {"ours": ours, "theirs": theirs}
    for run, reader in [("theirs", "ours"), ("ours", "theirs"), ("ours", "ours")]:
        told = readers[reader].tell(runs[run])
        check_equal(told, as_ours(by_both, told))
    return told
