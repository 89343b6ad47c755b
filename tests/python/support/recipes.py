"""The pages of docs/recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from support.scripts import WarmPython, run_job
from support.snippets import script_of

# What a script has defined.
Names = dict[str, Any]
# Runs the page of that name.
RunRecipe = Callable[[str], Names]


def script_of_recipe(recipe: str) -> str:
    """The whole script of a page."""
    return script_of(f"docs/recipes/{recipe}.md")


def training_of_recipe(recipe: str) -> str:
    """The script of a page up to where it reads the run."""
    training, found, _ = script_of_recipe(recipe).partition("trial = ")
    assert found
    return training


def write_script(text: str, folder: Path) -> str:
    """Where the script is that `text` makes."""
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def run_in_two_processes(text: str, python: WarmPython, folder: Path) -> None:
    """Runs a script to its end in two processes, as torchrun does."""
    begin = "import os; os.environ['LOCAL_RANK'] = os.environ['RANK']\n"
    # Without it gloo may abort a process that ends before the other.
    end = "\nimport torch.distributed\ntorch.distributed.destroy_process_group()\n"
    script = write_script(begin + text + end, folder)
    run_job(python, [script], folder, 2, WORLD_SIZE="2", MASTER_ADDR="127.0.0.1")
