"""The same as test_plans.py, for configurations that Hypothesis draws.

The cases are the same every time; SMDEBUG_EXAMPLES=<n> draws n new ones.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from compat_torch.agreement import check_plan
from compat_torch.package import Package
from compat_torch.plans import MODELS, Plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MODES = ("TRAIN", "EVAL", "PREDICT", "GLOBAL")
# `prod` and sums of many numbers may differ by more than a rounding; test_plans.py has them.
OPERATIONS = st.lists(st.sampled_from(["min", "max", "mean", "std", "variance"]), unique=True)
NORMS = st.lists(st.sampled_from(["l1", "l2"]), unique=True)
PATTERNS = st.sampled_from(
    ["weight", "^gradient", "_input_0$", "fc", "relu", "output", "bias|lstm", "Loss", "no_such"]
)
STEPS = st.integers(0, 6)


def _schedule(start: int, length: int | None, interval: int, steps: list[int]) -> dict[str, Any]:
    end = None if length is None else start + length
    return {"save_interval": interval, "start_step": start, "end_step": end, "save_steps": steps}


SCHEDULES = st.builds(
    _schedule, STEPS, st.none() | st.integers(1, 5), st.integers(1, 4), st.lists(STEPS, max_size=2)
)
SAVES = SCHEDULES | st.fixed_dictionaries({mode: SCHEDULES for mode in MODES})
REDUCES = st.fixed_dictionaries(
    {"reductions": OPERATIONS, "abs_reductions": OPERATIONS, "norms": NORMS, "abs_norms": NORMS},
    optional={"save_raw_tensor": st.booleans(), "save_shape": st.booleans()},
)
COLLECTIONS: Any = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["mine", "other", "weights", "losses"]),
        "include": st.lists(PATTERNS, min_size=1, max_size=2),
    },
    optional={"save": SAVES, "reduce": REDUCES},
)
PLANS: Any = st.fixed_dictionaries(
    {
        "model": st.sampled_from(MODELS),
        "loss": st.just("mse"),
        "save": SAVES,
        "phases": st.lists(
            st.tuples(st.sampled_from(MODES), st.integers(1, 4)), min_size=1, max_size=4
        ),
        "collections": st.lists(COLLECTIONS, max_size=3, unique_by=lambda made: made["name"]),
    },
    optional={
        "save_all": st.booleans(),
        "include_regex": st.lists(PATTERNS, max_size=2),
        "include_collections": st.lists(
            st.sampled_from(["weights", "biases", "gradients", "mine", "other", "default"])
        ),
        "reduce": REDUCES,
    },
)

_asked = os.environ.get("SMDEBUG_EXAMPLES")


@settings(
    max_examples=int(_asked or 40),
    derandomize=_asked is None,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
@given(plan=PLANS)
def test_generated_runs_are_the_same(
    plan: Plan, reference: Package, own: Package, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = tmp_path_factory.mktemp("run")
    check_plan(plan, reference, own, folder)
