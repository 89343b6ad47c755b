"""Rules by name: classes of files or of the package, and the parameters they take."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from smdebug import _core
from smdebug.analysis.utils import parse_bool
from smdebug.rules.builtin import BUILT_IN_RULES
from smdebug.rules.rule import Rule
from smdebug.trials.trial import Trial

_NOT_KINDS = {"None", "NoneType", "Optional", "Union", "typing", "class"}
# A file that calls these may have names that nobody sees in it.
_MAKES_NAMES = {"globals", "exec", "setattr", "vars"}
_OWN = ("action_str", "other_trials")


def find_rule(name: str) -> type[Rule]:
    """A built-in rule, in any letter case, or `path/to/file.py:ClassName`; else ValueError."""
    path, colon, class_name = name.rpartition(":")
    if colon and path.endswith(".py"):
        return load_rule(Path(path), class_name)
    for known, rule in BUILT_IN_RULES.items():
        if known.lower() == name.lower():
            return rule
    raise ValueError(
        f"'{name}' is not a rule; expected path/to/file.py:ClassName or one of "
        f"{', '.join(BUILT_IN_RULES)}"
    )


def load_rule(path: Path, class_name: str) -> type[Rule]:
    """A rule of a file, which may import what lies beside it; ValueError if there is none.

    The file is run, as an import does; not if it can be seen that it has no such name.
    """
    module = _load(path, class_name)
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        names = ", ".join(_rules_of(module)) or "none"
        raise ValueError(f"{path} has no class {class_name}; its rules: {names}")
    if not issubclass(found, Rule):
        raise ValueError(
            f"{path}: {class_name} is not a rule: it does not derive from smdebug.rules.Rule"
        )
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    if missing:
        raise ValueError(f"{path}: {class_name} is not a rule: it does not define {missing[0]}()")
    return found


def _load(path: Path, class_name: str) -> ModuleType:
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    tree = _parse(path)
    if tree is not None and class_name not in _names_of(tree):
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        names = ", ".join(classes) or "none"
        raise ValueError(f"{path} has no class {class_name}; its classes: {names}")
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_of_rules"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: the name of a Python file ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        raise ValueError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _parse(path: Path) -> ast.Module | None:
    """The file; None if only running it tells which names it has, or what is wrong with it."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _MAKES_NAMES:
            return None
        if isinstance(node, ast.alias) and node.name == "*":
            return None
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            return None
    return tree


def _names_of(tree: ast.Module) -> set[str]:
    """What has a name in the file, outside of functions and classes."""
    names = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    blocks: list[ast.AST] = [tree]
    while blocks:
        for node in ast.iter_child_nodes(blocks.pop()):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                names.add(node.name)
                continue
            if isinstance(node, ast.alias):
                names.add((node.asname or node.name).partition(".")[0])
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            blocks.append(node)
    return names


def _rules_of(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__
    ]


def convert_parameters(
    rule: type[Rule], given: dict[str, str], *, has_others: bool = False
) -> dict[str, Any]:
    """Parameters that come as strings, in the types that the rule's constructor wants.

    One that is annotated as int, float or bool, or has a default of such a type, becomes that; the
    others stay strings. ValueError for one that the rule does not have, for one that it needs
    and for a string that does not fit.
    """
    known = list(inspect.signature(rule).parameters.values())[1:]
    named = {p.name: p for p in known if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known)
    asked = [*given, *(["other_trials"] if has_others else [])]
    for name in asked:
        if name not in named and not takes_any:
            names = [key for key in named if key not in _OWN]
            raise ValueError(
                f"{rule.__name__} has no parameter {name}; it has {', '.join(names) or 'none'}"
                f"{_core.did_you_mean(name, names)}"
            )
    for name, parameter in named.items():
        if name not in asked and name not in _OWN and parameter.default is parameter.empty:
            raise ValueError(f"{rule.__name__} needs a value of {name}")
    return {
        name: _convert(f"{rule.__name__}.{name}", text, named[name]) if name in named else text
        for name, text in given.items()
    }


def _convert(place: str, text: str, parameter: inspect.Parameter) -> object:
    annotated = _kind_of_annotation(parameter.annotation)
    kind = annotated or type(parameter.default)
    if text == "None" and parameter.default is None:
        return None
    try:
        if kind is bool:
            return parse_bool(text, False)
        if kind is float:
            return float(text)
        if kind is int and annotated is None:
            # A default that is written as a whole number need not mean one.
            return int(text) if re.fullmatch(r"\s*[+-]?\d+\s*", text) else float(text)
        if kind is int:
            return int(text)
    except ValueError:
        wanted = {bool: "true or false", float: "a number", int: "a whole number"}
        word = wanted[float if kind is int and annotated is None else kind]
        raise ValueError(f"{place}: '{text}' is not allowed; expected {word}") from None
    return text


def _kind_of_annotation(annotation: object) -> type[Any] | None:
    """int, float or bool, where a parameter is annotated as such or as that or None."""
    text = annotation if isinstance(annotation, str) else repr(annotation)
    words = set(re.findall(r"\w+", text)) - _NOT_KINDS
    kinds: list[type[Any]] = [kind for kind in (bool, int, float) if words == {kind.__name__}]
    return kinds[0] if kinds else None


def make_rule(rule: type[Rule], trial: Trial, others: list[Trial], given: dict[str, Any]) -> Rule:
    """The rule for a trial. ValueError if it cannot do without other trials."""
    known = inspect.signature(rule).parameters
    arguments = dict(given)
    for name, value in (("action_str", ""), ("other_trials", others)):
        if name not in known or name in arguments:
            continue
        required = known[name].default is inspect.Parameter.empty
        if required and name == "other_trials" and not others:
            raise ValueError(f"{rule.__name__} needs other trials")
        if required or (name == "other_trials" and others):
            arguments[name] = value
    return rule(trial, **arguments)
