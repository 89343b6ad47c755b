"""Prints, as JSON, what packages of this interpreter offer: run by both packages' own.

Standard input is {"packages": [names], "modules": [names], "expressions": [strings]}. The answer
has the names of all modules of the packages, which are not imported, what the modules offer, and
what the expressions over all their names give.
"""

from __future__ import annotations

import ast
import enum
import importlib
import importlib.util
import inspect
import json
import logging
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def modules_of(package: str) -> list[str]:
    """The public modules below a package, and itself."""
    spec = importlib.util.find_spec(package)
    found = []
    for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
        # What is below a link counts, too.
        files = [
            Path(at, name) for at, _, names in os.walk(folder, followlinks=True) for name in names
        ]
        for file in files:
            *parts, name = file.relative_to(folder).with_suffix("").parts
            if name != "__init__":
                parts.append(name)
            if file.suffix == ".py" and not any(part.startswith("_") for part in parts):
                found.append(".".join((package, *parts)))
    return sorted(found)


def describe_default(default: object) -> str:
    return "" if default is inspect.Parameter.empty else repr(default)


def describe_call(function: Any) -> list[list[str]] | None:  # noqa: ANN401
    """Name, kind and default of each parameter; None where Python does not know."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[p.name, p.kind.name, describe_default(p.default)] for p in parameters]


def describe_member(member: object) -> dict[str, Any] | None:
    if isinstance(member, property):
        return {"kind": "property", "settable": member.fset is not None}
    if isinstance(member, (classmethod, staticmethod)):
        return {"kind": type(member).__name__, "call": describe_call(member.__func__)}
    if inspect.isfunction(member):
        return {"kind": "method", "call": describe_call(member)}
    if isinstance(member, (str, int)):
        return {"kind": "value", "value": repr(member)}
    return None


def describe_class(cls: type) -> dict[str, Any]:
    """What a class has, also from those above it in its own package."""
    if issubclass(cls, enum.Enum):
        return {"kind": "enum", "values": {member.name: repr(member.value) for member in cls}}
    members: dict[str, Any] = {}
    package = cls.__module__.partition(".")[0]
    for kind in reversed(cls.__mro__):
        if kind.__module__.partition(".")[0] != package:
            continue
        for name, member in vars(kind).items():
            described = describe_member(member)
            if described is not None and (not name.startswith("_") or name == "__init__"):
                members[name] = described
    bases = [base.__name__ for base in cls.__mro__]
    # A member of one of these names gives way.
    return {**members, "kind": "class", "bases": bases, "hashable": cls.__hash__ is not None}


def describe_value(value: object) -> dict[str, Any] | None:
    if isinstance(value, (set, frozenset)):
        return {"kind": "value", "value": repr(sorted(value))}
    if value is None or isinstance(value, (str, int, float, list, tuple)):
        return {"kind": "value", "value": repr(value)}
    return None


def assigned_in(module: ModuleType) -> set[str]:
    """The names that the module's own lines give a value, rather than import."""
    found = set()
    assert module.__file__ is not None
    source = Path(module.__file__).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def describe_module(module: ModuleType) -> dict[str, Any]:
    """What has a public name in the module, with the module in which it is defined."""
    found: dict[str, Any] = {}
    assigned = assigned_in(module)
    # What __all__ names may be found only when it is asked for.
    public = dict.fromkeys([*vars(module), *getattr(module, "__all__", ())])
    for name in public:
        thing = getattr(module, name)
        if name.startswith("_") or inspect.ismodule(thing) or isinstance(thing, logging.Logger):
            continue
        if inspect.isclass(thing):
            found[name] = {"home": thing.__module__, **describe_class(thing)}
        elif inspect.isfunction(inspect.unwrap(thing) if callable(thing) else thing):
            found[name] = {
                "home": thing.__module__,
                "kind": "function",
                "call": describe_call(thing),
            }
        else:
            described = describe_value(thing)
            if described is not None:
                home = module.__name__ if name in assigned else None
                found[name] = {"home": home, **described}
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
        "packages": [name for package in asked["packages"] for name in modules_of(package)],
        "modules": {name: describe_module(module) for name, module in modules.items()},
        "expressions": {text: evaluate(text, names) for text in asked["expressions"]},
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
