"""Rules that look at one tensor of one step fire where their definitions do."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rule_definitions.definitions import tensors as definitions
from rule_definitions.plans import (
    EIGHTHS,
    NO_TIE,
    SPECIAL,
    Plan,
    arrays,
    fired,
    plans,
    some_of,
    spec,
    to_run,
)

COLLECTIONS = {"gradients": "^gradient/", "mine": "^mine/"}
NAMES = ("gradient/a", "gradient/b", "mine/c", "mine/d", "elsewhere")
WITH_SPECIAL = arrays(numbers=(*EIGHTHS, *SPECIAL))
thresholds = st.sampled_from([number for number in EIGHTHS if number >= 0])


@given(plans(some_of(NAMES, WITH_SPECIAL)), thresholds)
def test_vanishing_gradient(plan: Plan, threshold: float) -> None:
    rules = [
        spec("VanishingGradient", threshold=threshold, robust=robust) for robust in (False, True)
    ]
    expected = definitions.vanishing_gradient(
        to_run(plan), lambda name: name.startswith("gradient/"), threshold
    )
    plain, robust = fired(plan, *rules, collections=COLLECTIONS)
    assert plain == expected
    assert set(robust) <= set(plain)
    assert fired(plan, *rules, collections=COLLECTIONS, reductions=["abs_mean"]) == [plain, robust]


@given(plans(some_of((*NAMES, "trees/Gain"), WITH_SPECIAL)), st.booleans(), st.booleans())
def test_exploding_tensor(plan: Plan, only_nan: bool, is_selected: bool) -> None:
    rule = spec(
        "ExplodingTensor",
        only_nan=only_nan,
        collection_names=["mine"] if is_selected else None,
        tensor_regex=["ad.*/b$"] if is_selected else None,
    )
    selected = ("mine/c", "mine/d", "gradient/b") if is_selected else NAMES
    expected = definitions.exploding_tensor(to_run(plan), selected.__contains__, only_nan)
    assert fired(plan, rule, collections=COLLECTIONS) == [expected]
    # Counts of NaN and infinities come with any reduction.
    assert fired(plan, rule, collections=COLLECTIONS, reductions=["max"]) == [expected]


@given(
    plans(some_of(NAMES, arrays(numbers=(0, 0, 0, 1, -0.5, *SPECIAL)))),
    st.sampled_from((0, 12.5, 25, 37.5, 50, 75, 99, 100)),
)
def test_all_zero(plan: Plan, threshold: float) -> None:
    rules = [
        spec("AllZero", threshold=threshold, collection_names=["mine"], robust=robust)
        for robust in (False, True)
    ]
    expected = definitions.all_zero(to_run(plan), lambda name: name.startswith("mine/"), threshold)
    plain, robust = fired(plan, *rules, collections=COLLECTIONS)
    assert plain == expected
    assert set(robust) <= set(plain)
    assert fired(plan, *rules, collections=COLLECTIONS, reductions=["max"]) == [plain, robust]


@given(
    plans(some_of(NAMES, WITH_SPECIAL)),
    st.none() | thresholds,
    st.none() | thresholds,
)
def test_tensor_variance(plan: Plan, high: float | None, low: float | None) -> None:
    limits: dict[str, Any] = {
        "max_threshold": 1 if high is None and low is None else high,
        "min_threshold": low,
    }
    limits = {name: limit + NO_TIE for name, limit in limits.items() if limit is not None}
    rules = [
        spec("TensorVariance", tensor_regex=["^mine/", "where"], robust=robust, **limits)
        for robust in (False, True)
    ]
    expected = definitions.tensor_variance(
        to_run(plan), ("mine/c", "mine/d", "elsewhere").__contains__, **limits
    )
    plain, robust = fired(plan, *rules, collections=COLLECTIONS)
    assert plain == expected
    assert set(robust) <= set(plain)
    assert fired(plan, *rules, reductions=["variance"]) == [plain, robust]


@given(
    plans(
        some_of(
            ("embedding0_input_0", "net_embedding0_input_0", "other"),
            arrays(numbers=(0, 0, 1, 3, 7), dtypes=("int32", "int64", "float32")),
        )
    ),
    st.none()
    | st.dictionaries(
        st.sampled_from((0, 1, 3)), st.sampled_from((0, 25, 33, 50, 67, 100)), min_size=1
    ),
)
def test_nlp_sequence_ratio(plan: Plan, tokens: dict[float, float] | None) -> None:
    rule = spec(
        "NLPSequenceRatio",
        token_values=tokens and [str(token) for token in tokens],
        token_thresholds_percent=tokens and [str(limit) for limit in tokens.values()],
    )
    expected = definitions.nlp_sequence_ratio(
        to_run(plan), lambda name: name.endswith("embedding0_input_0"), tokens
    )
    assert fired(plan, rule) == [expected]


@given(
    st.sampled_from(((), (3,), (2, 4), (1, 2, 2), (2, 1, 2, 2))).flatmap(
        lambda shape: plans(
            some_of(
                ("hybridsequential0_input_0", "other"),
                arrays(
                    shapes=[(samples, *shape) for samples in (1, 2, 5)],
                    dtypes=("float32", "float64", "uint8"),
                    numbers=[abs(number) for number in EIGHTHS[24:48]] + [-1, -2],
                ),
            )
        )
    ),
    st.sampled_from((1, 2, 3)),
    st.sampled_from((1, 4, 7, 20)),
    thresholds,
)
def test_check_input_images(plan: Plan, channel: int, samples: int, threshold: float) -> None:
    limits: dict[str, Any] = {
        "threshold_mean": threshold / 2 + NO_TIE,
        "threshold_samples": samples,
    }
    plain, robust = fired(
        plan,
        spec("CheckInputImages", channel=channel, **limits),
        spec("CheckInputImages", channel=channel, **limits, robust=True),
    )
    expected = definitions.check_input_images(
        to_run(plan), lambda name: name != "other", channel=channel, **limits
    )
    assert plain == expected
    assert set(robust) <= set(plain)
