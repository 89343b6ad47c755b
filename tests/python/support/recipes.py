"""The pages of docs/recipes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

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


def start_script(script: str, folder: Path, *launcher: str) -> subprocess.Popen[str]:
    """Starts Python with a script in a folder; standard output has its errors, too."""
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, *launcher, str(path)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run_in_two_processes(script: str, folder: Path) -> None:
    """Runs a script to its end in two processes of torchrun."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    # Without it gloo may abort a process that ends before the other.
    end = "\ntorch.distributed.destroy_process_group()\n"
    with start_script(script + end, folder, *torchrun) as process:
        output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
