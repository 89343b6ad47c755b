"""Our trial and smdebug 1.0's, asked the same about the same run, agree."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from compat.document import number, read_with_1_0, value_document
from compat.faults import NOT_HERE, entries, is_misread, put_right
from compat.opened import split_reduction
from support.driver import Document, Questions, RunReader
from support.reductions import Reduced, reduce
from support.scenario import Array
from support.truth import Key, Truth


def check_agreement(
    reader: RunReader, folder: Path, truth: Truth, questions: Questions
) -> tuple[Document, Document]:
    """Reads `folder` with both and compares. Returns our document and theirs."""
    ours, theirs = read_with_both(reader, folder, questions)
    check_documents(ours, theirs, truth, questions)
    return ours, theirs


def read_with_both(
    reader: RunReader, folder: Path, questions: Questions
) -> tuple[Document, Document]:
    ours = reader.read(folder, questions)
    theirs = read_with_1_0(folder, questions)
    assert "error" not in theirs, theirs
    assert "error" not in ours, ours
    return ours, theirs


def check_documents(ours: Document, theirs: Document, truth: Truth, questions: Questions) -> None:
    if questions.get("computed"):
        check_computed(ours, theirs, truth)
    found = list(differences(without_computed(ours), put_right(theirs, truth, questions)))
    assert not found, "\n".join(found)
    check_values(ours, truth, questions)


def differences(ours: object, right: object, at: str = "") -> Iterator[str]:
    """Where two documents differ."""
    if isinstance(ours, dict) and isinstance(right, dict) and ours.keys() == right.keys():
        for key in ours:
            yield from differences(ours[key], right[key], f"{at}/{key}")
    elif isinstance(ours, list) and isinstance(right, list) and len(ours) == len(right):
        for place, pair in enumerate(zip(ours, right)):
            yield from differences(*pair, f"{at}/{place}")
    elif ours != right:
        yield f"{at}: ours {ours}, right {right}"


def without_computed(document: Document) -> Document:
    stripped = copy.deepcopy(document)
    for _, entry in entries(stripped):
        entry.pop("computed", None)
    return stripped


def check_values(ours: Document, truth: Truth, questions: Questions) -> None:
    """Everything that was written within the range is there, bit for bit."""
    begin, end = questions.get("begin_step", 0), questions.get("end_step", 10**18)
    for (name, step, worker), value in truth.values.items():
        if begin <= step < end:
            entry = ours["tensors"][name]["at"]["GLOBAL"][str(step)][worker]
            assert entry["value"] == value_document(value)


def check_computed(ours: Document, theirs: Document, truth: Truth) -> None:
    """Reductions that are saved are the same; those that are computed are right."""
    given = {key: entry["computed"] for key, entry in entries(theirs) if "computed" in entry}
    for key, entry in entries(ours):
        for name, got in entry.get("computed", {}).items():
            check_reduction(got, given[key][name], name, key, truth)


def check_reduction(got: object, given: object, name: str, key: Key, truth: Truth) -> None:
    where = (key, name, got, given)
    saved = truth.reductions.get(key, {}).get(name)
    value = truth.values.get(key)
    if saved is not None:
        assert got == number(saved), where
        assert given == got or is_misread(saved), where
    elif value is None:
        assert got == given == NOT_HERE, where
    elif value.dtype == object:
        assert got == {"error": "Error"}, where
    else:
        assert isinstance(got, (float, int, str)), where
        right = reduce(value, name)
        assert right.matches(float(got)), (where, right)
        if is_comparable(value, name) and key not in truth.shapes:
            assert isinstance(given, (float, int, str)), where
            assert nearly(right, float(given), value), (where, right)


def is_comparable(value: Array, reduction: str) -> bool:
    """Whether 1.0 computes what it should. Its norms are those of matrices, its
    types those of the tensor, which overflow, as products do on their way to a
    small result; complex numbers are its own."""
    if value.size == 0 or value.dtype not in ("float32", "float64"):
        return False
    op = split_reduction(reduction)[0]
    if op in ("l1", "l2"):
        return value.ndim == 1
    return op != "prod"


def nearly(right: Reduced, other: float, value: Array) -> bool:
    if not np.isfinite(right.value) or not np.isfinite(other):
        return str(right.value) == str(other)
    return abs(right.value - other) <= 64 * float(np.finfo(value.dtype).eps) * right.scale
