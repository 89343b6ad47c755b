#!/usr/bin/env python3
"""Checks who includes whom against the layer table below.

Prints one line per violation and exits 1 if there is any. The table says which
modules of src/ a module may build on; what those build on is allowed too. A
module's CMakeLists.txt must name every module that its files include.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Module -> the modules right below it. hook and trial never meet: the files of
# a run are the whole contract between writer and reader.
LAYERS: dict[str, list[str]] = {
    "base": [],
    "tensor": ["base"],
    "reduce": ["tensor"],
    "record": ["base", "tensor"],
    "storage": ["base"],
    "s3": ["storage"],
    "run": ["storage"],
    "config": ["base"],
    "index": ["record", "storage", "config"],
    "steps": ["index", "run"],
    "hook": ["steps", "reduce"],
    "trial": ["steps", "reduce"],
    "rules": ["trial"],
    "actions": ["rules"],
    "guard": ["hook", "rules"],
    "c_api": ["hook"],
    "xgboost": ["base", "hook"],
    "timeline": ["base", "storage"],
    "query": ["trial", "rules"],
    "serve": ["actions", "query"],
    "cli": ["serve", "s3", "timeline"],
}

# Folder of a module -> the other folders of that module that it may include.
# What lies in the module's own folder, or in one that is not named, is free.
ROOMS: dict[str, list[str]] = {
    "rules/builtin": [],
    "rules/reports": ["rules/builtin"],
    "rules/engine": ["rules/builtin", "rules/reports"],
    "cli/output": [],
}

# Public header -> the module that implements it. Those below internal/ are for
# the adapters and the Python extension, not for users. Whoever may include that
# module's private headers may include it; cli may include every public header.
PUBLIC_OWNERS: dict[str, str] = {
    "action": "actions",
    "c_api": "c_api",
    "config": "config",
    "error": "base",
    "finding": "base",
    "guard": "guard",
    "hook": "hook",
    "internal/arriving": "hook",
    "internal/class_patterns": "config",
    "internal/did_you_mean": "config",
    "internal/part_statistics": "reduce",
    "internal/step_judge": "rules",
    "internal/termination": "base",
    "internal/unusable_collections": "config",
    "internal/xgboost_data": "xgboost",
    "internal/xgboost_importance": "xgboost",
    "internal/xgboost_text": "xgboost",
    "invoker": "rules",
    "log": "base",
    "mode": "base",
    "query": "query",
    "reduction": "base",
    "rule": "rules",
    "rule_parameters": "rules",
    "run": "run",
    "storage": "storage",
    "tensor": "tensor",
    "trial": "trial",
    "version": "base",
}

# Public header -> the library that it is for. No module implements these: a
# program that has the library compiles them, on the public API alone.
ADAPTERS: dict[str, str] = {
    "internal/torch-inl": "torch/",
    "internal/torch_device": "torch/",
    "internal/torch_gradient": "torch/",
    "internal/torch_rows": "torch/",
    "internal/torch_tensor": "torch/",
    "torch": "torch/",
    "xgboost": "xgboost/",
}

# Folders that see the public API alone. tests/ and bench/ see everything.
PUBLIC_ONLY = ("examples", "python/src", "tests/python")

# Highway's headers are quoted and come last: they include the file again for
# every CPU target.
QUOTED_THIRD_PARTY = ("hwy/",)

_INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|(<[^>]+>))', re.MULTILINE)
_MODULE = re.compile(r"smdebug_module\(\s*(\w+)([^)]*)\)")
_PUBLIC = re.compile(r"smdebug/(.+)\.h")
_STANDARD = re.compile(r"<(?:[a-z0-9_]+|stdint\.h)>")


def reachable(module: str) -> set[str]:
    """The modules that `module` may include: itself and all below it."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo += LAYERS[current]
    return seen


def sources(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".h", ".cc"):
            yield path


def includes(path: Path) -> Iterator[str]:
    """What `path` includes: quoted names bare, others with their brackets."""
    for quoted, bracketed in _INCLUDE.findall(path.read_text(encoding="utf-8")):
        yield quoted or bracketed


def header_name(include: str) -> str:
    """What the tables call "smdebug/<name>.h"; empty for any other include."""
    match = _PUBLIC.fullmatch(include)
    return match[1] if match else ""


def owner(include: str) -> str | None:
    """The module that a quoted include belongs to; None if it is in no table."""
    parts = include.split("/")
    if parts[0] == "src" and len(parts) > 2 and parts[1] in LAYERS:
        return parts[1]
    return PUBLIC_OWNERS.get(header_name(include))


def check_public_headers(root: Path) -> Iterator[str]:
    for path in sources(root / "include/smdebug"):
        where = path.relative_to(root)
        name = header_name(path.relative_to(root / "include").as_posix())
        if name in ADAPTERS:
            yield from check_adapter(path, where, ADAPTERS[name])
            continue
        own = PUBLIC_OWNERS.get(name)
        if own is None:
            yield f"{where}: not in the table of public headers"
            continue
        for include in includes(path):
            if include.startswith("<"):
                if not _STANDARD.fullmatch(include):
                    yield f"{where}: a public header may not include {include}"
            elif not include.startswith("smdebug/"):
                yield f"{where}: a public header may not include {include}"
            elif owner(include) not in reachable(own):
                yield f"{where}: {own} may not build on {include}"


def check_adapter(path: Path, where: Path, library: str) -> Iterator[str]:
    """An adapter sees public headers, other adapters for its library, and that library."""
    for include in includes(path):
        if include.startswith("<"):
            allowed = bool(_STANDARD.fullmatch(include)) or include.startswith(f"<{library}")
        else:
            name = header_name(include)
            allowed = name in PUBLIC_OWNERS or ADAPTERS.get(name) == library
        if not allowed:
            yield f"{where}: an adapter for {library} may not include {include}"


def check_include(module: str, include: str, *, is_test: bool) -> str | None:
    """What is wrong with a quoted include in a file of `module`, if anything."""
    if include.startswith("tests/"):
        return None if is_test else f"only tests may include {include}"
    if include.startswith(QUOTED_THIRD_PARTY):
        return None
    own = owner(include)
    if own is None:
        return f'{include} is in no layer (use "src/...", "smdebug/..." or <...>)'
    if module == "cli" and include.startswith("smdebug/"):
        return None
    if own not in reachable(module):
        return f"{module} may not include {include}"
    return None


def check_room(path: Path, include: str) -> str | None:
    """What is wrong with an include of a file below src/, by the folder that it is in."""
    room, other = path.parent.as_posix(), Path(include).parent.relative_to("src").as_posix()
    if room not in ROOMS or other.split("/")[0] != room.split("/")[0]:
        return None
    if other == room or other in ROOMS[room]:
        return None
    return f"{room} may not include {include}"


def declared_dependencies(folder: Path) -> list[str] | None:
    """DEPS of the folder's smdebug_module() line; None if it has no such line."""
    lists = folder / "CMakeLists.txt"
    match = _MODULE.search(lists.read_text(encoding="utf-8")) if lists.is_file() else None
    if match is None:
        return None
    words = match.group(2).split()
    if "DEPS" not in words:
        return []
    deps = words[words.index("DEPS") + 1 :]
    return deps[: deps.index("LIBS")] if "LIBS" in deps else deps


def check_module(root: Path, folder: Path) -> Iterator[str]:
    module = folder.name
    if module not in LAYERS:
        yield f"src/{module}: not in the layer table"
        return
    declared = declared_dependencies(folder)
    if declared is None:
        yield f"src/{module}/CMakeLists.txt: no smdebug_module() line"
        return
    for dep in declared:
        if dep not in reachable(module):
            yield f"src/{module}/CMakeLists.txt: {module} may not depend on {dep}"
    for path in sources(folder):
        where = path.relative_to(root)
        is_test = path.name.endswith("_test.cc")
        for include in includes(path):
            if include.startswith("<"):
                continue
            wrong = check_include(module, include, is_test=is_test)
            if wrong is None and include.startswith("src/"):
                wrong = check_room(path.relative_to(root / "src"), include)
            if wrong:
                yield f"{where}: {wrong}"
            elif include.startswith("src/") and owner(include) not in (module, *declared):
                yield f"{where}: {include} needs {owner(include)} in DEPS of src/{module}"


def check_public_only(root: Path, folder: str) -> Iterator[str]:
    hidden = ("src/", "smdebug/internal/") if folder == "examples" else ("src/",)
    for path in sources(root / folder):
        for include in includes(path):
            if include.startswith(hidden):
                where = path.relative_to(root)
                yield f"{where}: {folder} may include the public API only, not {include}"


def violations(root: Path) -> list[str]:
    """Every violation below `root`, in a fixed order."""
    found = list(check_public_headers(root))
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        found += check_module(root, folder)
    for public_only in PUBLIC_ONLY:
        found += check_public_only(root, public_only)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent
    )
    found = violations(parser.parse_args().root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
