"""A process that is several workers of its job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from smdebug.trials import create_trial
from support.native_run import NativeRun

DEVICES = tuple(f"/job:localhost/replica:0/task:0/device:GPU:{gpu}" for gpu in (0, 1))


def test_each_worker_has_what_was_saved_for_it_and_for_all(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with NativeRun(run, DEVICES[0], 2, more_workers=DEVICES[1:]) as written:
        hook = written.hook
        assert hook.workers == list(DEVICES)
        hook.begin_step()
        for replica in (0, 1):
            hook.save("kernel", np.full(2, replica), "dense/kernel:0", replica)
            hook.save_scalar("replica", replica, None, worker=replica)
        hook.save("loss", np.float64(3))
        hook.end_step()
    trial = create_trial(str(run))
    assert trial.workers() == list(DEVICES)
    for replica, device in enumerate(DEVICES):
        assert trial.tensor("kernel").value(0, worker=device).tolist() == [replica, replica]
        assert trial.tensor("scalar/replica").value(0, worker=device) == replica
        assert trial.tensor("loss").value(0, worker=device) == 3
    assert hook.stats["steps_saved"] == 2


def test_workers_that_make_no_job_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no other worker"):
        NativeRun(tmp_path / "run", "a", 2, more_workers=("a",))
    assert not list(tmp_path.glob("run/**/*.json"))
