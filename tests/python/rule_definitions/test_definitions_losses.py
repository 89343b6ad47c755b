"""Rules about losses fire where their definitions do."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rule_definitions.definitions import losses as definitions
from rule_definitions.plans import (
    ANY_MODES,
    EIGHTHS,
    GLOBAL,
    NO_TIE,
    TRAINED,
    Plan,
    arrays,
    fired,
    plans,
    some_of,
    spec,
    to_run,
)

COLLECTIONS = {"losses": "loss", "gradients": "^gradient/"}
LOSSES = ("loss_a", "loss_b", "x")
# Many that are close to each other, as losses are, and some that are not.
NUMBERS = (*(4 + number / 64 for number in range(8)), *EIGHTHS[30:40], 0, -1, np.nan, np.inf)
losses = arrays(((), (1,), (2,), (4,)), NUMBERS, ("float32", "float64"))
sound_losses = arrays(((), (1,), (2,)), NUMBERS[:-2], ("float32", "float64"))
percents = st.sampled_from([number + 1 / 512 for number in (0, 1, 5, 20, 50, 90)])


def is_loss(name: str) -> bool:
    return "loss" in name


@given(
    plans(some_of(LOSSES, losses.filter(lambda value: value.size > 1)), most=20)
    | plans(some_of(LOSSES[:2], losses), most=20),
    st.sampled_from((1, 2, 3, 5)),
    percents,
    percents,
    st.sampled_from((None, None, "TRAIN", "EVAL", "GLOBAL")),
)
def test_loss_not_decreasing(
    plan: Plan, num_steps: int, diff: float, increase: float, mode: str | None
) -> None:
    rule = spec(
        "LossNotDecreasing",
        num_steps=num_steps,
        diff_percent=diff,
        increase_threshold_percent=increase,
        mode=mode,
    )
    expected = definitions.loss_not_decreasing(
        to_run(plan), is_loss, num_steps, diff, increase, mode
    )
    assert fired(plan, rule, collections=COLLECTIONS) == [expected]
    assert fired(plan, rule, collections=COLLECTIONS, reductions=["mean"]) == [expected]


@given(
    plans(
        st.builds(
            lambda single, late: {**single, **late},
            some_of(("a", "b"), sound_losses.filter(lambda value: value.size == 1)),
            st.sampled_from(({}, {}, {"vector": np.ones(2)}, {"loss": np.ones(2)})),
        )
    ),
    st.sampled_from((1, 2, 3)),
)
def test_loss_not_decreasing_before_there_are_losses(plan: Plan, num_steps: int) -> None:
    rule = spec("LossNotDecreasing", num_steps=num_steps)
    expected = definitions.loss_not_decreasing(to_run(plan), is_loss, num_steps)
    assert fired(plan, rule, collections=COLLECTIONS) == [expected]


def fires_as_defined(plan: Plan, name: str, expected: list[int], how: dict[str, Any]) -> None:
    """The rule does, whether losses or their means are saved; when robust, not more often."""
    rules = [spec(name, **how), spec(name, **how, robust=True)]
    plain, robust = fired(plan, *rules, collections=COLLECTIONS)
    assert plain == expected
    assert set(robust) <= set(plain)
    saved_means = fired(plan, *rules, collections=COLLECTIONS, reductions=["mean"])
    assert saved_means == [plain, robust]


@given(
    plans(some_of(LOSSES, sound_losses), TRAINED, most=20),
    st.integers(0, 8),
    st.integers(1, 3),
    st.sampled_from((0, 0.125, 0.5, 1)),
)
def test_overfit(plan: Plan, start_step: int, patience: int, ratio: float) -> None:
    how: dict[str, Any] = {
        "start_step": start_step,
        "patience": patience,
        "ratio_threshold": ratio + NO_TIE,
    }
    fires_as_defined(plan, "Overfit", definitions.overfit(to_run(plan), is_loss, **how), how)


@given(
    plans(
        some_of(
            ("train-rmse", "validation-rmse", "train-auc", "eval-auc", "test-auc", "alone-rmse"),
            arrays(((), (1,)), EIGHTHS[28:44], ("float64",)),
        ),
        GLOBAL,
    ),
    st.integers(1, 3),
    st.sampled_from((0, 0.125, 0.5, 1)),
)
def test_overfit_of_boosters(plan: Plan, patience: int, ratio: float) -> None:
    how: dict[str, Any] = {"patience": patience, "ratio_threshold": ratio + NO_TIE}
    expected = definitions.overfit_of_boosters(to_run(plan), **how)
    rule = spec("Overfit", **how)
    assert fired(plan, rule, collections={"losses": "-"}) == [expected]


@given(
    plans(some_of(LOSSES, losses), ANY_MODES, most=20),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from((0, 0.125, 1)),
)
def test_overtraining(plan: Plan, train: int, validation: int, delta: float) -> None:
    how: dict[str, Any] = {
        "patience_train": train,
        "patience_validation": validation,
        "delta": delta + NO_TIE,
    }
    expected = definitions.overtraining(to_run(plan), is_loss, **how)
    fires_as_defined(plan, "Overtraining", expected, how)


@given(
    plans(
        st.builds(
            lambda a, b, c: {**a, **b, **c},
            some_of(LOSSES, losses),
            some_of(
                ("a_relu_input", "b_relu_input", "c_relu_input_0"),
                arrays(((), (1,), (3,), (8,)), (*EIGHTHS, np.nan), ("float32", "float64")),
            ),
            some_of(
                ("gradient/a", "gradient/b"),
                arrays(((7,), (8,), (2, 5), (0,)), (*EIGHTHS[30:35], np.nan), ("float32",)),
            ),
        )
    ),
    st.sampled_from((1, 4, 10, 1000)),
    st.sampled_from((0, 0.25, 0.5)),
    st.integers(1, 3),
    st.integers(1, 8),
)
def test_poor_weight_initialization(
    plan: Plan, threshold: float, distribution_range: float, patience: int, steps: int
) -> None:
    how: dict[str, Any] = {
        "threshold": threshold + NO_TIE,
        "distribution_range": distribution_range + NO_TIE,
        "patience": patience,
        "steps": steps,
    }
    expected = definitions.poor_weight_initialization(
        to_run(plan),
        lambda name: "relu_input" in name,
        lambda name: name.startswith("gradient/"),
        is_loss,
        **how,
    )
    assert fired(plan, spec("PoorWeightInitialization", **how), collections=COLLECTIONS) == [
        expected
    ]
