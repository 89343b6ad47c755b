"""Which parameters a module has at a moment."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import torch
from torch.nn import Module, Parameter

from smdebug.pytorch.tensors import is_sharded, shard_suffix

# The parameters of modules of which this process holds a part, by the names that they have there.
Sharded = weakref.WeakKeyDictionary[Module, dict[str, torch.Tensor]]


class Contents(NamedTuple):
    """The parameters in a module, each once, by the first of its dotted names."""

    parameters: list[torch.Tensor]
    paths: list[str]  # Those of a part end in its place.


def look_into(module: Module, sharded: Sharded) -> Contents:
    """What is in `module` now, in the order of its named_parameters().

    `sharded` has the sharded parameters that were seen before. While a module runs, whole tensors
    stand in for them; these are not what the optimizer knows.
    """
    contents = Contents([], [])
    _walk(module, "", contents, sharded, {id(module)})
    return contents


def _walk(
    module: Module, prefix: str, contents: Contents, sharded: Sharded, seen: set[int]
) -> None:
    for name, parameter in module._parameters.items():
        if parameter is None or id(parameter) in seen:
            continue
        seen.add(id(parameter))
        path = prefix + name
        if sharded or type(parameter) is not Parameter:
            parameter, suffix = _part_of(module, name, parameter, sharded)
            path += suffix
        contents.parameters.append(parameter)
        contents.paths.append(path)
    for name, child in module._modules.items():
        if child is not None and id(child) not in seen:
            seen.add(id(child))
            _walk(child, f"{prefix}{name}.", contents, sharded, seen)


def _part_of(
    module: Module, name: str, parameter: torch.Tensor, sharded: Sharded
) -> tuple[torch.Tensor, str]:
    """What of a parameter is in this process, and what its name ends in for that."""
    if is_sharded(parameter):
        sharded.setdefault(module, {})[name] = parameter
    else:
        parameter = sharded.get(module, {}).get(name, parameter)
    return parameter, shard_suffix(parameter) if is_sharded(parameter) else ""


def last_that_learns(module: Module) -> torch.Tensor | None:
    """The last parameter in `module` that takes a gradient."""
    for child in reversed(list(module._modules.values())):
        found = None if child is None else last_that_learns(child)
        if found is not None:
            return found
    for parameter in reversed(list(module._parameters.values())):
        if parameter is not None and parameter.requires_grad:
            return parameter
    return None
