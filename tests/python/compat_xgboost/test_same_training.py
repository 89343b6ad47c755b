"""The same training with smdebug 1.0 and with ours, compared name by name.

What differs is named here and in docs/compatibility.md; any other difference is a bug.
"""

from __future__ import annotations

from typing import Any

import pytest
from compat_xgboost.conftest import Both
from compat_xgboost.plans import PLAN

SAME = ("everything", "defaults", "everything by default", "dart", "rmse", "auc")


def expected(value: Any, name: str) -> Any:
    """What is compared of a value."""
    kind, shape, items = value
    if name.startswith("average_shap/"):
        items = None  # The mean of magnitudes, not of signed values.
    elif kind in ("float32", "float64"):
        items = pytest.approx(items, rel=1e-6, abs=1e-9, nan_ok=True)
    return kind, shape, items


@pytest.mark.parametrize("kind", SAME)
def test_names_types_shapes_and_values(kind: str, both: Both) -> None:
    theirs, ours = both(kind)
    signed = {name for name in ours["tensors"] if name.startswith("average_shap_signed/")}
    assert theirs["tensors"]
    assert set(ours["tensors"]) - signed == set(theirs["tensors"])
    assert not signed or kind == "everything by default"
    for name, steps in theirs["tensors"].items():
        assert set(ours["tensors"][name]) == set(steps), name
        for step, value in steps.items():
            found = ours["tensors"][name][step]
            wanted = expected(value, name)
            if wanted[2] is None:
                found = [*found[:2], None]
            assert tuple(found) == wanted, (name, step)
    for name, members in theirs["collections"].items():
        assert set(ours["collections"][name]) - signed == set(members), name


def test_averages_differ_and_the_signed_ones_have_their_own_name(both: Both) -> None:
    theirs, ours = both("averages")
    for feature in PLAN["features"]:
        old = theirs["tensors"][f"average_shap/{feature}"]["3"]
        signed = ours["tensors"][f"average_shap_signed/{feature}"]["3"]
        magnitude = ours["tensors"][f"average_shap/{feature}"]["3"]
        assert signed[:2] == old[:2]
        assert signed[2] == pytest.approx(old[2], rel=1e-4, abs=1e-7)
        assert magnitude[2][0] > abs(signed[2][0])


def names(told: Any, collection: str) -> set[str]:
    return set(told["collections"][collection])


def test_metrics_that_smdebug_1_0_loses(both: Both) -> None:
    theirs, ours = both("names of metrics")
    kinds = ("error@0.3", "aucpr", "logloss")
    metrics = {f"{data}-{kind}" for data in ("validation_0", "test") for kind in kinds}
    assert names(ours, "metrics") == metrics
    assert names(theirs, "metrics") < metrics
    assert "validation_0-logloss" not in theirs["tensors"]
    assert "test-aucpr" in names(theirs, "losses")
    assert names(ours, "losses") == {name for name in metrics if "aucpr" not in name}


def test_features_that_smdebug_1_0_loses(both: Both) -> None:
    features = ["fa", "radius", "ab", "phi", "plain"]
    theirs, ours = both("names of features")
    assert names(theirs, "full_shap") == {"full_shap/plain"}
    assert names(ours, "full_shap") == {f"full_shap/{name}" for name in features}
    assert names(ours, "average_shap") == {f"average_shap/{name}" for name in features}


def test_trees_of_classes(both: Both) -> None:
    theirs, ours = both("classes")
    assert set(theirs["tensors"]["trees/Tree"]["3"][2]) == {3}  # Of round 1.
    assert set(ours["tensors"]["trees/Tree"]["3"][2]) == {9, 10, 11}
    rest = {name for name in theirs["tensors"] if not name.startswith("trees/")}
    assert rest == {name for name in ours["tensors"] if not name.startswith("trees/")}


def test_cross_validation(both: Both) -> None:
    theirs, ours = both("folds")
    for name in ("train-logloss", "test-logloss"):
        old, new = theirs["tensors"][name]["3"], ours["tensors"][name]["3"]
        assert (old[1], new[1]) == ([2], [1])  # Mean and deviation; the mean.
        assert new[2] == old[2][:1]
        assert ours["tensors"][f"cv_std/{name}"]["3"][2] == old[2][1:]


def test_patterns_find_what_no_collection_asks_for(both: Both) -> None:
    theirs, ours = both("regex")
    metrics = {"train-logloss", "test-logloss"}
    assert set(theirs["tensors"]) == metrics
    importance = {f"feature_importance/{kind}/one" for kind in ("gain", "total_gain")}
    assert set(ours["tensors"]) == metrics | importance
