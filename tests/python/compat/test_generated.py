"""smdebug 1.0 finds in our runs what was asked for, whatever was asked for."""

from __future__ import annotations

import tempfile
from pathlib import Path

from compat import strategies
from compat.opened import check_collections, check_run, open_run
from hypothesis import given, note
from hypothesis import strategies as st
from support import model
from support.driver import Driver


@given(data=st.data())
def test_smdebug_1_0_reads_back_what_the_hook_was_asked_to_save(
    driver: Driver, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run_dir = Path(folder) / "run"
        scenario = data.draw(strategies.scenarios(str(run_dir)))
        note(str(scenario))
        (stats,) = driver.play(scenario, Path(folder))
        (run,) = model.play(scenario)

        trial = open_run(run_dir)
        check_run(trial, run)
        check_collections(trial, run)
        assert stats["steps_saved"] == len(run.steps)
        assert stats["scalars_saved"] == run.scalar_count
        assert stats["errors"] == stats["dropped"] == stats["lost"] == 0
