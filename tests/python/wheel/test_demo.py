"""What `make demo` shows, by the wheel alone: a rule of its command stops a training."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "examples/pytorch/goes_wrong.py"
RULE = ["--rule", "VanishingGradient:start_step=100"]


def test_a_rule_stops_the_training_that_goes_wrong(tmp_path: Path) -> None:
    run = tmp_path / "run"
    job = subprocess.Popen([sys.executable, str(SCRIPT), "--out-dir", str(run)])
    try:
        watch = ["smdebug", "watch", str(run), *RULE, "--action", f"stop:{job.pid}"]
        seen = subprocess.run(watch, capture_output=True, text=True, timeout=300)
        assert seen.returncode == 1, seen.stdout + seen.stderr
        assert "VanishingGradient" in seen.stdout
        assert job.wait(timeout=60) == -signal.SIGTERM
    finally:
        job.kill()
        job.wait()
    done = (run / "rules/actions.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(done[0])["rule"] == "VanishingGradient"
