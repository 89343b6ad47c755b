"""Recipes, run from their pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from support.recipes import Names, RunRecipe, script_of_recipe, training_of_recipe
from support.scripts import TORCH, WarmPython
from torch.optim.optimizer import register_optimizer_step_post_hook

os.environ["HF_HUB_OFFLINE"] = "1"  # Read when Transformers is imported.


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where recipes run, with one thread each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("SMDEBUG_STRICT", "1")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield tmp_path
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def python() -> Iterator[WarmPython]:
    """For scripts in processes of their own."""
    modules = (
        "lightning.pytorch",
        "accelerate",
        "transformers.trainer",
        "transformers.models.llama",
    )
    with WarmPython(*TORCH, *modules) as python:
        yield python


def run_here(script: str) -> Names:
    names: Names = {"__name__": "__main__"}
    exec(compile(script, "recipe", "exec"), names)
    return names


@pytest.fixture
def run_recipe() -> RunRecipe:
    """Runs a page, with its own assertions."""
    return lambda recipe: run_here(script_of_recipe(recipe))


@pytest.fixture
def run_without_hook(monkeypatch: pytest.MonkeyPatch) -> RunRecipe:
    """Runs the training of a page; hooks that are made from then on do nothing."""

    def run(recipe: str) -> Names:
        nothing = Mock(rule_fired=False)
        monkeypatch.setattr("smdebug.pytorch.Hook", Mock(return_value=nothing))
        return run_here(training_of_recipe(recipe))

    return run


@pytest.fixture
def gradients() -> Iterator[list[list[torch.Tensor]]]:
    """What every step of an optimizer has found."""
    found: list[list[torch.Tensor]] = []

    def note(optimizer: torch.optim.Optimizer, *_: object) -> None:
        groups = optimizer.param_groups
        found.append([p.grad.clone() for group in groups for p in group["params"]])

    handle = register_optimizer_step_post_hook(note)
    yield found
    handle.remove()
