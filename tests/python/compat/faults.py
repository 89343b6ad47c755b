"""The known faults of smdebug 1.0's reader, put right in its document of a run.

Each function is one fault. docs/compatibility.md lists them under "Differences
in reading". What is left untouched must be the same in our document.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator

from compat.document import number, value_document
from compat.opened import UNREADABLE
from support.driver import Document, Questions
from support.scenario import Array
from support.truth import Key, Truth

KEY_ERROR = {"error": "KeyError"}
NOT_HERE = {"error": "TensorUnavailableForStep"}


def put_right(theirs: Document, truth: Truth, questions: Questions) -> Document:
    """1.0's document without its faults; without "computed" too."""
    right = copy.deepcopy(theirs)
    for key, entry in entries(right):
        entry.pop("computed", None)
        put_entry_right(entry, key, truth)
    for tensor in right["tensors"].values():
        put_steps_right(tensor["steps"], right)
    answers = right["answers"] or {}
    for question, found in zip(questions.get("passed", []), answers.get("passed", [])):
        put_state_right(found, question)
    for question, found in zip(questions.get("lookups", []), answers.get("lookups", [])):
        put_lookup_right(found, question, right, truth)
    for name in ("names", "waits"):
        answers[name] = [put_key_error_right(name, a) for a in answers.get(name, [])]
    for question, found in zip(questions.get("previous", []), answers.get("previous", [])):
        if "error" not in found:
            found[:] = previous_steps(right, *question)
    right["collections"] = all_names_of(right["collections"], truth)
    for at, question in enumerate(questions.get("names", [])):
        if set(question) == {"collection"} and right["collections"] != theirs["collections"]:
            answers["names"][at] = members_of(question["collection"], right)
    right["answers"] = {key: given for key, given in answers.items() if given} or None
    return right


def entries(document: Document) -> Iterator[tuple[Key, Document]]:
    """What a document says of each tensor, step and worker, in every mode."""
    for name, tensor in document["tensors"].items():
        for mode, steps in tensor["at"].items():
            for step, workers in steps.items():
                at = global_step(document, mode, int(step))
                assert at is not None
                for worker, entry in workers.items():
                    yield (name, at, worker), entry


def global_step(document: Document, mode: str, step: int) -> int | None:
    known = (
        (s if mode == "GLOBAL" else mode_step, s)
        for s, m, mode_step in document["stamps"]
        if mode in ("GLOBAL", m)
    )
    return next((s for number_in_mode, s in known if number_in_mode == step), None)


def is_misread(value: Array) -> bool:
    """Types without a place in 1.0's table raise KeyError, int8 comes back as
    uint8, and a value without elements raises one thing or another."""
    return value.size == 0 or value.dtype == "int8" or value.dtype.name in UNREADABLE


def put_entry_right(entry: Document, key: Key, truth: Truth) -> None:
    value = truth.values.get(key)
    # An entry of the shape payload hides the value of the same tensor.
    if value is not None and (is_misread(value) or key in truth.shapes):
        entry["value"] = value_document(value)
        if key not in truth.shapes:
            entry["shape"] = list(value.shape)
    reductions = truth.reductions.get(key, {})
    if "reductions" in entry and any(map(is_misread, reductions.values())):
        entry["reductions"] = {name: number(reduced) for name, reduced in reductions.items()}


def put_steps_right(steps: Document, document: Document) -> None:
    """Whether a tensor's step is complete: 1.0 compares the last complete step,
    which is over all modes, with the step of the mode."""
    complete = document["steps"]["GLOBAL"]["complete"]
    for mode, both in steps.items():
        right = [s for s in both["all"] if global_step(document, mode, s) in complete]
        if mode == "GLOBAL" or document["loaded_all_steps"]:
            assert both["complete"] == right
        both["complete"] = right


def put_state_right(found: Document, question: list[str]) -> None:
    """Asked for a step of a mode that some worker did not write, 1.0 looks
    for a step over all modes of that number when it writes its log."""
    if found["state"] == KEY_ERROR:
        assert question[0] != "GLOBAL"
        found["state"] = "AVAILABLE"


def put_lookup_right(found: Document, question: Document, document: Document, truth: Truth) -> None:
    if "error" in found:
        return
    name, mode, step = question["tensor"], question["mode"], question["step"]
    at = global_step(document, mode, step)
    workers = truth.workers_at(name, at) if at is not None else set()
    worker = question.get("worker", min(workers, default=""))
    if worker in workers:
        assert at is not None
        put_entry_right(found, (name, at, worker), truth)
    elif found["value"] == KEY_ERROR:  # As in put_state_right().
        found.update(value=NOT_HERE, shape=NOT_HERE)
    if not workers and found["workers"] == NOT_HERE:
        # 1.0 does not tell why.
        found["workers"] = found["value"]


def put_key_error_right(name: str, given: object) -> object:
    """Of tensor names at a mode or a mode step that is not there, and of waits
    as in put_state_right()."""
    if given != KEY_ERROR:
        return given
    return [] if name == "names" else "ready"


def previous_steps(document: Document, tensor: str, mode: str, step: int, count: int) -> list[int]:
    steps = document["tensors"][tensor]["steps"].get(mode, {"complete": []})
    return [s for s in steps["complete"] if s <= step][-count:]


def all_names_of(collections: Document, truth: Truth) -> Document:
    """1.0 takes the collections of whichever file it finds first; ours joins the
    tensor names of all."""
    files = [truth.collections[worker] for worker in sorted(truth.collections)]
    assert collections in files
    joined: Document = {}
    for name, definition in ((n, d) for file in files for n, d in file.items()):
        names = {*definition["tensor_names"], *joined.get(name, definition)["tensor_names"]}
        joined[name] = {**joined.get(name, definition), "tensor_names": sorted(names)}
    return joined


def members_of(collection: str, document: Document) -> list[str]:
    """The tensors of a collection that is joined from several files."""
    definition = document["collections"].get(collection)
    if definition is None:
        return []
    patterns, names = definition["include_regex"], definition["tensor_names"]
    return sorted(
        tensor
        for tensor in document["tensors"]
        if tensor in names or any(re.search(pattern, tensor) for pattern in patterns)
    )
