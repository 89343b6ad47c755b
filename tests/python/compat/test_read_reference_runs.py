"""Our trial finds in runs of smdebug 1.0 what smdebug 1.0 finds in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from compat import run_strategies
from compat.agreement import check_agreement
from compat.questions import questions_of
from compat.reference_hook import play_with_1_0
from compat.reference_run import write_run
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.driver import RunReader

# Two kinds of runs share the cases.
HALF = settings(max_examples=settings.get_profile("compat").max_examples // 2)


@HALF
@given(data=st.data())
def test_both_read_the_same_from_what_the_writers_of_1_0_wrote(
    reader: RunReader, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder: Path = tmp_path_factory.mktemp("run")
    run = data.draw(run_strategies.runs())
    note(str(run))
    write_run(run, folder)
    truth = run.truth(folder)
    stamps = list(dict.fromkeys(file.stamp for file in run.files))
    questions = questions_of(truth, stamps)
    check_agreement(reader, folder, truth, questions)


@HALF
@given(data=st.data())
def test_both_read_the_same_from_what_a_hook_of_1_0_saved(
    reader: RunReader, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("run")
    scenario = data.draw(run_strategies.scenarios(str(folder)))
    note(str(scenario))
    truth, stamps = play_with_1_0(scenario)
    truth.add_collections(folder)
    check_agreement(reader, folder, truth, questions_of(truth, stamps))
