"""Prints, as JSON, what the `smdebug` of this interpreter offers: run by both packages' own.

Standard input is {"modules": [names], "expressions": [texts]}.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import logging
import sys
from types import ModuleType
from typing import Any


def describe_default(default: object) -> str:
    return "" if default is inspect.Parameter.empty else repr(default)


def describe_call(function: Any) -> list[list[str]] | None:  # noqa: ANN401
    """Name, kind and default of each parameter; None where Python does not know."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[p.name, p.kind.name, describe_default(p.default)] for p in parameters]


def describe_class(cls: type) -> dict[str, Any]:
    if issubclass(cls, enum.Enum):
        return {"kind": "enum", "values": {member.name: repr(member.value) for member in cls}}
    members: dict[str, Any] = {}
    for name, member in vars(cls).items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, property):
            members[name] = {"kind": "property", "settable": member.fset is not None}
        elif isinstance(member, (classmethod, staticmethod)):
            members[name] = {"kind": type(member).__name__, "call": describe_call(member.__func__)}
        elif inspect.isfunction(member):
            members[name] = {"kind": "method", "call": describe_call(member)}
        elif isinstance(member, (str, int)):
            members[name] = {"kind": "value", "value": repr(member)}
    bases = [base.__name__ for base in cls.__mro__]
    return {"kind": "class", "bases": bases, "hashable": cls.__hash__ is not None, **members}


def describe_value(value: object) -> dict[str, Any] | None:
    if isinstance(value, (set, frozenset)):
        return {"kind": "value", "value": repr(sorted(value))}
    if value is None or isinstance(value, (str, int, float, list, tuple)):
        return {"kind": "value", "value": repr(value)}
    return None


def describe_module(module: ModuleType) -> dict[str, Any]:
    """What has a public name in the module, with the module in which it is defined."""
    found: dict[str, Any] = {}
    for name, thing in vars(module).items():
        if name.startswith("_") or inspect.ismodule(thing) or isinstance(thing, logging.Logger):
            continue
        if inspect.isclass(thing):
            found[name] = {"home": thing.__module__, **describe_class(thing)}
        elif inspect.isfunction(thing):
            found[name] = {
                "home": thing.__module__,
                "kind": "function",
                "call": describe_call(thing),
            }
        else:
            described = describe_value(thing)
            if described is not None:
                found[name] = {"home": None, **described}
    return found


def evaluate(expression: str, names: dict[str, Any]) -> str:
    try:
        return repr(eval(expression, names))
    except Exception as error:
        # What users may catch: the class, and Python's own classes above it.
        kinds = [kind for kind in type(error).__mro__ if kind is not object]
        return f"raises {' '.join(kind.__name__ for kind in kinds)}"


def main() -> None:
    asked = json.load(sys.stdin)
    modules = {name: importlib.import_module(name) for name in asked["modules"]}
    names: dict[str, Any] = {}
    for module in modules.values():
        names.update({n: v for n, v in vars(module).items() if not n.startswith("_")})
    told = {
        "modules": {name: describe_module(module) for name, module in modules.items()},
        "expressions": {text: evaluate(text, names) for text in asked["expressions"]},
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
