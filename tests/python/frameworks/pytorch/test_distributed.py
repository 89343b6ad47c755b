"""Jobs of several processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch.distributed
from smdebug.trials import Trial
from support.scripts import WarmPython, run_job

if not torch.distributed.is_available():
    pytest.skip("this torch has no torch.distributed", allow_module_level=True)

PROCESSES = 2


def train(python: WarmPython, run: Path, *arguments: str) -> list[str]:
    """Runs the job; gives each process's losses."""
    command = ["-m", "support.torch_job", str(run), *arguments]
    places = {"MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": str(PROCESSES)}
    run_job(python, command, run.parent, PROCESSES, **places)
    return [Path(f"{run}.losses.{rank}").read_text() for rank in range(PROCESSES)]


def open_run(run: Path) -> Trial:
    trial = smd.create_trial(str(run))
    trial.training_end_delay_refresh = 0.01
    return trial


@pytest.mark.parametrize("workers", ["one", "all"])
def test_data_parallel_processes_save_as_one_or_all(
    workers: str, python: WarmPython, tmp_path: Path
) -> None:
    bare = train(python, tmp_path / "bare")
    run = tmp_path / "run"
    assert train(python, run, "--hook", "--workers", workers) == bare
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


def test_shards_are_named_by_their_place(python: WarmPython, tmp_path: Path) -> None:
    if not hasattr(torch, "compile"):  # Then fsdp may not even be imported with Python 3.11.
        pytest.skip("this torch has no fully_shard")
    pytest.importorskip("torch.distributed.fsdp", reason="no FSDP")
    if not hasattr(torch.distributed.fsdp, "fully_shard"):
        pytest.skip("this torch has no fully_shard")
    bare = train(python, tmp_path / "bare", "--kind", "fsdp")
    run = tmp_path / "run"
    assert train(python, run, "--hook", "--workers", "all", "--kind", "fsdp") == bare
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
