"""The same training under smdebug 1.0 and smdebug 2, each run read by both."""

from __future__ import annotations

from pathlib import Path

import pytest
from compat_torch.agreement import check_plan
from compat_torch.package import Package
from compat_torch.plans import PLANS


@pytest.mark.parametrize("name", PLANS)
def test_runs_are_the_same(name: str, reference: Package, own: Package, tmp_path: Path) -> None:
    told = check_plan(PLANS[name], reference, own, tmp_path)
    is_empty = name in ("nothing is due",)
    assert bool(told["tensors"]) != is_empty
