"""Both readers find in our runs what was asked for, whatever was asked for."""

from __future__ import annotations

import pytest
from compat import strategies
from compat.opened import check_collections, check_run, open_run
from compat.own_runs import check_own_run
from hypothesis import given, note
from hypothesis import strategies as st
from support import model
from support.driver import Driver, RunReader


@given(data=st.data())
def test_what_the_hook_was_asked_to_save_is_read_back_by_smdebug_1_0_and_by_ours(
    driver: Driver,
    reader: RunReader,
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("own")
    run_dir = folder / "run"
    scenario = data.draw(strategies.scenarios(str(run_dir)))
    note(str(scenario))
    (stats,) = driver.play(scenario, folder)
    (run,) = model.play(scenario)

    trial = open_run(run_dir)
    check_run(trial, run)
    check_collections(trial, run)
    assert stats["steps_saved"] == len(run.steps)
    assert stats["scalars_saved"] == run.scalar_count
    assert stats["errors"] == stats["dropped"] == stats["lost"] == 0

    check_own_run(reader, run_dir, [run])
