"""What the two hooks do differently on purpose; docs/compatibility.md tells the same to users.

Each entry is a part of what is told about a run of smdebug 1.0 and about the same run of ours. A
difference that is not here is a bug.
"""

from __future__ import annotations

import copy
import re
from typing import Any, Callable

import numpy as np

Told = dict[str, Any]


def _values_beside_shapes(told: Told, other: Told) -> None:
    """smdebug 1.0 does not find the value of a tensor whose shape it saved as well."""
    for name, tensor in told["tensors"].items():
        for key, value in tensor["values"].items():
            known = other["tensors"][name]["values"][key]
            if value == "TensorUnavailableForStep" and tensor["shapes"][key] == known[1]:
                tensor["values"][key] = known


def _names_without_data(told: Told, other: Told) -> None:
    """smdebug 1.0 lists in collections what it saw, also if nothing of it was ever saved."""
    for name, collection in told["collections"].items():
        listed = {*other["names"], *other["collections"][name]["known"]}
        collection["known"] = [known for known in collection["known"] if known in listed]


def _later_names(told: Told, other: Told) -> None:
    """smdebug 1.0 writes collections once, without the names of tensors that come later."""
    for name, collection in told["collections"].items():
        later = set(other["collections"][name]["known"])
        if set(collection["known"]) <= later <= set(collection["members"]):
            collection["known"] = sorted(later)


def _scalars_of_any_type(told: Told, other: Told) -> None:
    """smdebug 1.0 keeps the type that a scalar was given in; ours are float64."""
    for name, tensor in told["tensors"].items():
        if name.startswith("scalar/"):
            for key, (dtype, shape, content) in tensor["values"].items():
                if dtype != "float64" and other["tensors"][name]["values"][key][0] == "float64":
                    number = np.frombuffer(content, dtype).astype(np.float64)
                    tensor["values"][key] = ("float64", shape, number.tobytes())


def _patterns_of_modules(told: Told, other: Told) -> None:
    """The pattern that smdebug 1.0 makes of a module takes others whose names hold its name."""
    for name, collection in told["collections"].items():
        ours = other["collections"][name]["config"]["include_regex"]
        patterns = collection["config"]["include_regex"]
        for number, pattern in enumerate(patterns):
            anchored = rf"^{re.escape(pattern)}\d+$"
            if pattern.endswith(("_input_", "_output_")) and anchored in ours:
                patterns[number] = anchored


DIFFERENCES: list[Callable[[Told, Told], None]] = [
    _values_beside_shapes,
    _names_without_data,
    _later_names,
    _patterns_of_modules,
    _scalars_of_any_type,
]


def as_ours(told_of_1_0: Told, told: Told) -> Told:
    """What smdebug 1.0 tells, with every intended difference put right."""
    expected = copy.deepcopy(told_of_1_0)
    for difference in DIFFERENCES:
        difference(expected, told)
    return expected
