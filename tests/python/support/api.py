"""Comparing what two packages offer by name, each in its own environment."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
from collections.abc import Collection, Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

_LATER = "its hook comes in a later version"
_CORE = "files, records and indexes are read and written by the core"
_S3 = "S3 is the core's, which does not speak to it yet"
_PROFILER = "there is no profiler"
_OWN = "for the use of smdebug 1.0 itself"

# The modules of smdebug 1.0 that we do not have, and why. docs/compatibility.md lists them.
ABSENT = {
    "smdebug.tensorflow*": _LATER,
    "smdebug.mxnet*": _LATER,
    "smdebug.profiler*": _PROFILER,
    "smdebug.trials.profiler_trial": _PROFILER,
    "smdebug.core.access_layer.base": _CORE,
    "smdebug.core.access_layer.file": _CORE,
    "smdebug.core.access_layer.s3": _S3,
    "smdebug.core.access_layer.s3handler": _S3,
    "smdebug.core.s3_utils": _S3,
    "smdebug.core.index_reader": _CORE,
    "smdebug.core.locations": _CORE,
    "smdebug.core.reader": _CORE,
    "smdebug.core.tfevent*": _CORE,
    "smdebug.core.tfrecord*": _CORE,
    "smdebug.core.writer": _CORE,
    "smdebug.core.state_store": "steps of a job that resumes are kept by the core",
    "smdebug.core.config_validator": _OWN,
    "smdebug.core.error_handling_agent": "failures are kept from the training by the core",
    "smdebug.pytorch.utils": _OWN,
    "smdebug.xgboost.constants": _OWN,
    "smdebug.xgboost.utils": _OWN,
}

# Those that need a framework, and are compared where it is.
FRAMEWORKS = ("smdebug.pytorch", "smdebug.xgboost")


def is_absent(module: str) -> bool:
    return any(fnmatch(module, pattern) for pattern in ABSENT)


def belongs_to(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def ask(
    python: str,
    modules: Iterable[str] = (),
    expressions: Iterable[str] = (),
    packages: Iterable[str] = (),
) -> dict[str, Any]:
    """What the packages of an interpreter are; see describe_api.py."""
    asked = {
        "packages": list(packages),
        "modules": list(modules),
        "expressions": list(expressions),
    }
    environment = {k: v for k, v in os.environ.items() if k != "TRAINING_JOB_NAME"}
    done = subprocess.run(
        [python, str(Path(__file__).with_name("describe_api.py"))],
        input=json.dumps(asked),
        env={**environment, "SMDEBUG_LOG_LEVEL": "off"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def modules_of(python: str, package: str) -> list[str]:
    """All public modules that an interpreter has of a package."""
    return list(ask(python, packages=[package])["packages"])


def check_names(
    theirs: dict[str, Any],
    ours: dict[str, Any],
    missing: Collection[str],
    changed: Collection[str],
) -> None:
    """Fails unless ours has every name of theirs, called as before, but for what is listed.

    What a module imports counts if the module is a package, and is compared where it is defined.
    """
    lacking: set[str] = set()
    differing: dict[str, list[str]] = {}
    for module, names in theirs["modules"].items():
        is_package = any(other.startswith(f"{module}.") for other in theirs["modules"])
        for name, described in names.items():
            here = ours["modules"][module].get(name)
            if described["home"] == module or (is_package and described["home"] is not None):
                if here is None:
                    lacking.add(f"{module}.{name}")
                elif described["home"] == module:
                    for place, said in _differences(f"{module}.{name}", described, here):
                        if said == "is missing":
                            lacking.add(place)
                        else:
                            differing.setdefault(place, []).append(said)
    # In words, so that a failure shows what it is about.
    assert {place: said for place, said in differing.items() if place not in changed} == {}
    assert set(differing) == set(changed)
    assert lacking - set(missing) == set()
    assert lacking == set(missing)
    assert undocumented(lacking | set(differing)) == []


def check_passed_on(theirs: dict[str, Any], our_python: str) -> None:
    """Fails unless what a module of theirs passes on from others can be imported from it here.

    What comes from a module that is absent, or is documented to be missing, need not be there.
    """
    homes = {
        (module, name): described["home"]
        for module, names in theirs["modules"].items()
        for name, described in names.items()
        if described["home"] != module
        and (described["kind"] == "value" or belongs_to(str(described["home"]), "smdebug"))
    }
    assert homes
    asked = {
        f"__import__({module!r}, fromlist=[{name!r}]).{name}": (module, name)
        for module, name in homes
    }
    answers = ask(our_python, expressions=asked)["expressions"]
    lacking = [place for text, place in asked.items() if answers[text].startswith("raises ")]
    lacking = [place for place in lacking if not is_absent(str(homes[place]))]
    assert undocumented(".".join(place) for place in lacking) == []
    # Constants are what they were, unless it is documented how they have changed.
    values = {
        place: (theirs["modules"][place[0]][place[1]]["value"], answers[text])
        for text, place in asked.items()
        if place not in lacking and homes[place] is None
    }
    differing = {place: both for place, both in values.items() if _differ(*both)}
    differing = {p: both for p, both in differing.items() if undocumented([".".join(p)])}
    assert not differing, differing


def _differ(theirs: str, ours: str) -> bool:
    """Whether the texts of two constants differ; sets have no order."""
    if theirs.startswith("[") and ours.startswith("{"):
        return sorted(ast.literal_eval(theirs)) != sorted(ast.literal_eval(ours))
    return theirs != ours


def undocumented(names: Iterable[str]) -> list[str]:
    """Those that docs/compatibility.md does not have, by a name that ends as they do."""
    text = (Path(__file__).parents[3] / "docs/compatibility.md").read_text(encoding="utf-8")
    known = {name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", text)}
    return [name for name in names if name.rpartition(".")[2] not in known]


def _differences(
    name: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> Iterable[tuple[str, str]]:
    """How what is called `name` differs, for those who use it as before; where, and how."""
    if theirs["kind"] == "class" and ours["kind"] == "class":
        lost = [base for base in theirs["bases"] if base not in ours["bases"]]
        if lost:
            yield name, f"is no longer below {lost}"
        if theirs["hashable"] != ours["hashable"]:
            yield name, f"was {'' if theirs['hashable'] else 'not '}hashable"
        for member, described in theirs.items():
            full = f"{name}.{member}"
            if not isinstance(described, dict):
                continue
            if member in ours:
                yield from _differences(full, described, ours[member])
            else:
                yield full, "is missing"
        return
    for key, value in theirs.items():
        if key == "call":
            if not _can_call(value, ours.get("call")):
                yield name, f"was called with {value}, is with {ours.get('call')}"
        elif key != "home" and value != ours.get(key):
            yield name, f"{key} was {value}, is {ours.get(key)}"


def _can_call(theirs: list[list[str]] | None, ours: list[list[str]] | None) -> bool:
    """Whether every call that was possible is, with the same defaults."""
    if theirs is None or ours is None:
        return theirs is None
    kinds = {kind for _, kind, _ in ours}
    if {"VAR_POSITIONAL", "VAR_KEYWORD"} <= kinds and len(ours) <= 3:
        return True  # Takes anything.
    by_name = {name: (number, kind, default) for number, (name, kind, default) in enumerate(ours)}
    for number, (name, kind, default) in enumerate(theirs):
        if kind.startswith("VAR_"):
            if kind not in kinds:
                return False
            continue
        here = by_name.pop(name, None)
        if here is None or here[1] != kind or default not in ("", here[2]):
            return False
        if kind.startswith("POSITIONAL") and here[0] != number:
            return False
    return all(default or kind.startswith("VAR_") for _, kind, default in by_name.values())


def check_framework(
    package: str,
    their_python: str,
    our_python: str,
    missing: Collection[str],
    changed: Collection[str],
) -> None:
    """check_names() for all modules of a framework's package."""
    modules = [name for name in modules_of(their_python, package) if not is_absent(name)]
    assert package in modules
    theirs = ask(their_python, modules)
    check_names(theirs, ask(our_python, modules), missing, changed)
    check_passed_on(theirs, our_python)
