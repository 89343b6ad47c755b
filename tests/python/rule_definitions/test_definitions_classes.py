"""Rules about labels and predictions fire where their definitions do."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rule_definitions.definitions import classes as definitions
from rule_definitions.definitions.run import Array
from rule_definitions.plans import Plan, Tensors, fired, plans, spec, to_run

Numbers = st.SearchStrategy[list[int]]


@st.composite
def batches(draw: st.DrawFn, count: int) -> tuple[Array, Array]:
    """Labels of so many classes and predictions that are mostly right, in some form."""
    size = draw(st.integers(1, 10))
    numbers = st.lists(st.integers(0, count - 1), min_size=size, max_size=size)
    labels = np.array(draw(numbers), np.int64)
    wrong = np.array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))) == 0
    return labels, np.where(wrong, np.array(draw(numbers)), labels)


def one_hot(classes: Array, count: int) -> Array:
    return np.eye(count, dtype=np.float32)[classes]


@st.composite
def label_forms(draw: st.DrawFn, labels: Array, count: int) -> Array:
    form = draw(st.sampled_from(("whole", "real", "column", "one-hot")))
    if form == "one-hot":
        return one_hot(labels, count)
    values = labels.astype(np.float32) if form == "real" else labels
    return values[:, None] if form == "column" else values


@st.composite
def scores(draw: st.DrawFn, classes: Array, count: int) -> Array:
    """The classes as scores whose largest is the class."""
    noise = draw(
        st.lists(st.integers(0, 3), min_size=count * len(classes), max_size=count * len(classes))
    )
    return one_hot(classes, count) * 4 + np.array(noise, np.float32).reshape(-1, count)


@st.composite
def probabilities(draw: st.DrawFn, classes: Array) -> Array:
    """Numbers on the side of a half where classes 0 and 1 are."""
    steps = st.lists(st.integers(0, 3), min_size=len(classes), max_size=len(classes))
    return (classes / 2 + np.array(draw(steps)) / 8).astype(np.float32)


@st.composite
def class_steps(draw: st.DrawFn, count: int, form: str) -> Tensors:
    labels, classes = draw(batches(count))
    tensors: dict[str, Any] = {}
    if draw(st.integers(0, 7)):
        tensors["labels"] = draw(label_forms(labels, count))
    if draw(st.integers(0, 3)):
        if form == "probabilities":
            tensors["predictions"] = draw(probabilities(classes))
        elif form == "scores":
            tensors["predictions"] = draw(scores(classes, count))
        else:
            tensors["predictions"] = classes
        if draw(st.integers(0, 7)) == 0:
            tensors["predictions"] = tensors["predictions"][:-1]
    if draw(st.booleans()):
        tensors["z_labels"] = tensors["a"] = np.zeros(1)
    return tensors


@st.composite
def class_plans(draw: st.DrawFn) -> tuple[Plan, bool]:
    """A plan, and whether predictions are scores of each class."""
    form = draw(st.sampled_from(("whole", "scores", "probabilities")))
    count = 2 if form == "probabilities" else draw(st.integers(2, 4))
    return draw(plans(class_steps(count, form))), form == "scores"


@given(
    class_plans(),
    st.sampled_from((1, 2, 3, 10)),
    st.sampled_from((0, 0.25, 0.5, 0.7, 1)),
    st.sampled_from((1, 5, 10, 25)),
)
def test_class_imbalance(
    plan_and_form: tuple[Plan, bool], imbalance: float, misprediction: float, samples: int
) -> None:
    plan, argmax = plan_and_form
    how: dict[str, Any] = {
        "threshold_imbalance": imbalance,
        "threshold_misprediction": misprediction,
        "samples": samples,
        "argmax": argmax,
    }
    expected = definitions.class_imbalance(
        to_run(plan),
        lambda name: name.endswith("labels"),
        lambda name: name.endswith("predictions"),
        **how,
    )
    assert fired(plan, spec("ClassImbalance", **how)) == [expected]


@st.composite
def confusion_steps(draw: st.DrawFn, count: int, form: str) -> Tensors:
    """Labels and predictions under their names, or in two parts below those."""
    parts = [draw(batches(count)) for _ in range(draw(st.integers(1, 2)))]
    tensors: dict[str, Any] = {}
    for number, (labels, classes) in enumerate(parts):
        if form == "probabilities":
            said = draw(probabilities(classes))
        elif form == "scores":
            said = draw(scores(classes, count))
        else:
            said = classes.astype(form)
        tensors[f"labels/{number}"] = labels
        tensors[f"predictions/{number}"] = said
    if draw(st.booleans()):
        labels, said = tensors.pop("labels/0"), tensors.pop("predictions/0")
        tensors.update({"labels": labels, "predictions": said})
    if draw(st.integers(0, 7)) == 0:
        tensors = {name: value for name, value in tensors.items() if "labels" not in name}
    return tensors


@st.composite
def confusion_plans(draw: st.DrawFn) -> Plan:
    form = draw(st.sampled_from(("int64", "float32", "scores", "probabilities")))
    count = 2 if form == "probabilities" else draw(st.integers(2, 4))
    return draw(plans(confusion_steps(count, form), most=4))


@given(
    confusion_plans(),
    st.sampled_from((None, 2, 3, 6)),
    st.sampled_from((0, 0.5, 0.75, 0.9, 1)),
    st.sampled_from((0, 0.01, 0.1, 0.25, 0.5, 1)),
)
def test_confusion(plan: Plan, count: int | None, min_diag: float, max_off_diag: float) -> None:
    rule = spec("Confusion", category_no=count, min_diag=min_diag, max_off_diag=max_off_diag)
    expected = definitions.confusion(to_run(plan), count, min_diag, max_off_diag)
    collections = {"labels": "^labels", "predictions": "^predictions"}
    assert fired(plan, rule, collections=collections) == [expected]
