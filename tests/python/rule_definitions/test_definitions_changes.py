"""Rules that compare a tensor with what it was fire where their definitions do."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rule_definitions.definitions import changes as definitions
from rule_definitions.plans import (
    GLOBAL,
    NO_TIE,
    SPECIAL,
    TRAINED,
    Plan,
    arrays,
    fired,
    plans,
    some_of,
    spec,
    to_run,
)

COLLECTIONS = {"weights": "weight$"}
NAMES = ("a.weight", "b.weight", "other")
# Few, and some close to others, so that tensors stay as they are now and then.
FEW = (0, 1, 1 + 1e-7, 1 + 1e-4, -2, *SPECIAL)
few_values = arrays(shapes=((), (0,), (1,), (2,), (1, 2)), numbers=FEW)
finite_values = arrays(
    shapes=((), (0,), (1,), (2,), (3,)), numbers=(0, 1, 1 + 2.0**-20, -2, 64), dtypes=("float64",)
)


@st.composite
def mostly_the_same(
    draw: st.DrawFn, values: st.SearchStrategy[object]
) -> st.SearchStrategy[object]:
    """One of two values at most steps."""
    return st.one_of(*(st.just(draw(values)) for _ in range(2)), values)


few = mostly_the_same(few_values)
finite = mostly_the_same(finite_values)


def plans_of(values: st.SearchStrategy[st.SearchStrategy[object]]) -> st.SearchStrategy[Plan]:
    return values.flatmap(lambda of_tensor: plans(some_of(NAMES, of_tensor)))


@given(
    plans_of(few),
    st.sampled_from((2, 3, 4)),
    st.sampled_from((0, 1e-5, 1e-3)),
    st.sampled_from((0, 1e-8, 0.5)),
    st.booleans(),
)
def test_unchanged_tensor(
    plan: Plan, num_steps: int, rtol: float, atol: float, equal_nan: bool
) -> None:
    how: dict[str, Any] = {
        "num_steps": num_steps,
        "rtol": rtol,
        "atol": atol,
        "equal_nan": equal_nan,
    }
    plain, robust = fired(
        plan,
        spec("UnchangedTensor", collection_names=["weights"], **how),
        spec("UnchangedTensor", collection_names=["weights"], **how, robust=True),
        collections=COLLECTIONS,
    )
    expected = definitions.unchanged_tensor(
        to_run(plan), lambda name: name.endswith("weight"), num_steps, rtol, atol, equal_nan
    )
    assert plain == expected
    assert set(robust) <= set(plain)


@given(
    plans_of(finite),
    st.none() | st.integers(1, 4),
    st.sampled_from((0.5, 3, 10)),
    st.sampled_from((0, 1e-8, 0.25)),
    st.sampled_from((0, 1e-9, 0.125)),
)
def test_weight_update_ratio(
    plan: Plan, num_steps: int | None, large: float, small: float, epsilon: float
) -> None:
    how: dict[str, Any] = {
        "num_steps": num_steps,
        "large_threshold": large + NO_TIE,
        "small_threshold": small and small + NO_TIE,
        "epsilon": epsilon,
    }
    plain, robust = fired(
        plan,
        spec("WeightUpdateRatio", **how),
        spec("WeightUpdateRatio", **how, robust=True),
        collections=COLLECTIONS,
    )
    expected = definitions.weight_update_ratio(
        to_run(plan), lambda name: name.endswith("weight"), **how
    )
    assert plain == expected
    assert set(robust) <= set(plain)


@given(
    few.flatmap(
        lambda values: st.sampled_from((*GLOBAL, *TRAINED)).flatmap(
            lambda modes: st.tuples(
                plans(some_of(NAMES, values), [modes]), plans(some_of(NAMES, values), [modes])
            )
        )
    ),
    st.booleans(),
)
def test_similar_across_runs(runs: tuple[Plan, Plan], is_selected: bool) -> None:
    plan, other = runs
    selection = ["weights"] if is_selected else None
    expected = definitions.similar_across_runs(
        to_run(plan), lambda name: name != "other" or not is_selected, to_run(other)
    )
    assert fired(
        plan,
        spec("SimilarAcrossRuns", collection_names=selection),
        collections=COLLECTIONS,
        other=other,
    ) == [expected]
