"""Rules about boosted trees fire where their definitions do."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rule_definitions.definitions import trees as definitions
from rule_definitions.plans import (
    GLOBAL,
    Plan,
    Tensors,
    arrays,
    fired,
    plans,
    some_of,
    spec,
    to_run,
)

NO_CHILD = "nan"


@given(
    plans(
        some_of(
            [f"feature_importance/weight/f{number}" for number in range(5)]
            + ["feature_importance/gain/f0"],
            arrays(((), (1,)), (0, 0, 0.125, 0.25, 1, 4), ("float32", "float64")),
        ),
        GLOBAL,
    ),
    st.sampled_from((0, 0.25, 0.5, 0.75, 0.8, 0.9)),
    st.integers(1, 4),
)
def test_feature_importance_overweight(plan: Plan, threshold: float, nfeatures: int) -> None:
    how: dict[str, Any] = {"threshold": threshold, "nfeatures": nfeatures}
    plain, robust = fired(
        plan,
        spec("FeatureImportanceOverweight", **how),
        spec("FeatureImportanceOverweight", **how, robust=True),
    )
    expected = definitions.feature_importance_overweight(
        to_run(plan), lambda name: "feature_importance/weight" in name, **how
    )
    assert plain == expected
    assert set(robust) <= set(plain)


@st.composite
def trees(draw: st.DrawFn) -> Tensors:
    """A tree grown node by node in any order, perhaps without the columns of children."""
    tree = draw(st.integers(0, 20))
    children: dict[int, tuple[int, int]] = {}
    leaves = [0]
    for _ in range(draw(st.integers(0, 10))):
        # The newest leaf more often, so that some trees are deep.
        parent = leaves.pop(draw(st.sampled_from((-1, -1, 0))))
        children[parent] = (len(children) * 2 + 1, len(children) * 2 + 2)
        leaves += children[parent]
    nodes = draw(st.permutations(range(len(children) * 2 + 1)))

    def column(which: int) -> list[str]:
        return [f"{tree}-{children[n][which]}" if n in children else NO_CHILD for n in nodes]

    tensors: dict[str, Any] = {
        "trees/Tree": np.full(len(nodes), tree),
        "trees/Node": np.array(nodes),
        "trees/ID": [f"{tree}-{node}" for node in nodes],
        "trees/Yes": column(0),
        "trees/No": column(1),
    }
    if draw(st.booleans()):
        del tensors["trees/No"]
    return tensors


@given(plans(trees(), GLOBAL, most=5), st.sampled_from((0, 1, 2, 2.5, 3, 4, 6)))
def test_tree_depth(plan: Plan, depth: float) -> None:
    plain, robust = fired(
        plan, spec("TreeDepth", depth=depth), spec("TreeDepth", depth=depth, robust=True)
    )
    assert plain == definitions.tree_depth(to_run(plan), depth)
    assert set(robust) <= set(plain)
