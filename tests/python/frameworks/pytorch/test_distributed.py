"""Jobs of several processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch.distributed
from smdebug.trials import Trial

if not torch.distributed.is_available():
    pytest.skip("this torch has no torch.distributed", allow_module_level=True)

PROCESSES = 2
TESTS = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


def run_job(run: Path, *arguments: str) -> list[str]:
    """Runs the job; gives each process's losses."""
    job = {
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "WORLD_SIZE": str(PROCESSES),
        "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "support.torch_job", str(run), *arguments],
            env={**job, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(PROCESSES)
    ]
    for process in processes:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, output
    return [Path(f"{run}.losses.{rank}").read_text() for rank in range(PROCESSES)]


def open_run(run: Path) -> Trial:
    trial = smd.create_trial(str(run))
    trial.training_end_delay_refresh = 0.01
    return trial


@pytest.mark.parametrize("workers", ["one", "all"])
def test_data_parallel_processes_save_as_one_or_all(workers: str, tmp_path: Path) -> None:
    bare = run_job(tmp_path / "bare")
    run = tmp_path / "run"
    assert run_job(run, "--hook", "--workers", workers) == bare
    assert (run / "training_job_end.ts").exists()
    trial = open_run(run)
    names = ["worker_0", "worker_1"] if workers == "all" else ["worker_0"]
    assert trial.workers() == names
    assert trial.steps() == [0, 2]
    weight = trial.tensor("DistributedDataParallel_module.fc.weight")
    assert weight.workers(0) == names
    if workers == "one":
        return
    np.testing.assert_array_equal(
        weight.value(2, worker="worker_0"), weight.value(2, worker="worker_1")
    )
    batch = trial.tensor("DistributedDataParallel_input_0")
    assert not np.array_equal(batch.value(0, worker="worker_0"), batch.value(0, worker="worker_1"))


def test_shards_are_named_by_their_place(tmp_path: Path) -> None:
    if not hasattr(torch, "compile"):  # Then fsdp may not even be imported with Python 3.11.
        pytest.skip("this torch has no fully_shard")
    pytest.importorskip("torch.distributed.fsdp", reason="no FSDP")
    if not hasattr(torch.distributed.fsdp, "fully_shard"):
        pytest.skip("this torch has no fully_shard")
    bare = run_job(tmp_path / "bare", "--kind", "fsdp")
    run = tmp_path / "run"
    assert run_job(run, "--hook", "--workers", "all", "--kind", "fsdp") == bare
    trial = open_run(run)
    names = trial.tensor_names(collection="weights")
    assert names == [
        f"FSDPNet_{path}_shard_{place}"
        for path in ("child.lin.weight", "fc.weight")
        for place in range(PROCESSES)
    ]
    parts = [trial.tensor(f"FSDPNet_fc.weight_shard_{place}") for place in range(PROCESSES)]
    assert [part.workers(0) for part in parts] == [["worker_0"], ["worker_1"]]
    assert sum(part.shape(0)[0] for part in parts) == 3
    gradients = trial.tensor_names(collection="gradients")
    assert gradients == sorted(
        f"gradient/FSDPNet_{path}_shard_{place}"
        for path in ("child.lin.bias", "child.lin.weight", "fc.bias", "fc.weight")
        for place in range(PROCESSES)
    )
    for step in trial.steps():
        for place, part in enumerate(parts):
            gradient = trial.tensor(f"gradient/FSDPNet_fc.weight_shard_{place}")
            assert gradient.value(step).shape == part.value(step).shape
