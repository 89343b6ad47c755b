"""tools/demo without PyTorch: a rule fires at what goes wrong, and at nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.driver import program

ROOT = Path(__file__).resolve().parents[3]


def test_the_demo_shows_a_rule_that_fires_and_then_a_healthy_run(tmp_path: Path) -> None:
    build = program("smdebug").parent.parent
    command = [str(ROOT / "tools/demo"), "--without-pytorch", str(build), str(tmp_path / "runs")]
    shown = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "CCACHE_BASEDIR": str(ROOT)}
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    bad, good = shown.stdout.split("The same with a learning rate that fits:")
    assert "ExplodingTensor  IssuesFound" in bad
    assert good.count("NoIssuesFound") == 3
