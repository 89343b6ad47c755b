"""What a trial answers about a finished run."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Callable

import numpy as np
import pytest
from smdebug.analysis.utils import no_refresh, refresh
from smdebug.core.collection import Collection
from smdebug.core.modes import ModeKeys
from smdebug.core.tensor import StepState
from smdebug.exceptions import (
    IndexReaderException,
    MissingCollectionFiles,
    SMDebugRuntimeError,
    SMDebugTypeError,
    SMDebugValueError,
    TensorUnavailable,
)
from smdebug.trials import LocalTrial, Trial, create_trial
from support.log import logged
from support.native_run import NativeRun, make_run

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "first")


@pytest.fixture
def trial(run: Path) -> Trial:
    return create_trial(run)


def test_names_are_filtered_by_step_mode_regex_and_collection(trial: Trial) -> None:
    everything = ["fc.weight", "gradient/fc.weight", "loss"]
    assert trial.tensor_names() == everything
    assert trial.tensor_names(step=3) == everything
    assert trial.tensor_names(step=0, mode=ModeKeys.EVAL) == everything
    assert trial.tensor_names(regex="^gradient") == ["gradient/fc.weight"]
    assert trial.tensor_names(regex=["los+$", ["^fc"]]) == ["fc.weight", "loss"]
    assert trial.tensor_names(collection="gradients") == ["gradient/fc.weight"]
    assert trial.tensors(collection="losses") == ["loss"]
    assert trial.tensors(regex="weight") == ["fc.weight", "gradient/fc.weight"]


def test_what_is_unknown_leaves_no_names(trial: Trial) -> None:
    assert trial.tensor_names(step=99) == []
    assert trial.tensor_names(mode=ModeKeys.PREDICT) == []
    assert trial.tensor_names(step=7, mode=ModeKeys.EVAL) == []
    assert trial.tensor_names(collection="nope") == []
    assert trial.tensor_names(regex=[]) == []


def test_no_names_are_worth_a_warning(trial: Trial) -> None:
    with logged() as texts:
        trial.tensor_names(regex="nothing is called so")
    assert any("nothing is called so" in text for text in texts)


def test_a_filter_that_matches_nothing_is_told_once(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as made:
        for step in range(4):
            made.save_step({"often": [1.0], **({"seldom": [1.0]} if step == 2 else {})})
    trial = create_trial(tmp_path / "run")
    with logged() as texts:
        for step in trial.steps():
            trial.tensor_names(step=step, regex="^seldom$")
    assert texts == []
    with logged() as texts:
        for step in trial.steps():
            trial.tensor_names(step=step, regex="^never$")
            trial.tensor_names(step=step, collection="nope")
    assert len(texts) == 2
    assert "^never$" in texts[0]
    assert "nope" in texts[1]


def test_what_was_meant_by_a_filter_that_matches_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    trial = create_trial(run)
    with logged() as texts:
        trial.tensor_names(regex="fc.wieght$")
        trial.tensor_names(collection="lossse")
    assert len(texts) == 2
    assert "did you mean 'weight'" in texts[0]
    assert texts[1].endswith("collection=lossse; did you mean 'losses'?")


def test_a_bad_filter_is_refused(trial: Trial) -> None:
    with pytest.raises(ValueError, match="not both"):
        trial.tensor_names(regex="a", collection="losses")
    with pytest.raises(SMDebugValueError):
        trial.tensor_names(regex="(")
    with pytest.raises(TypeError):
        trial.tensor_names(collection=7)  # type: ignore[arg-type]
    with pytest.raises(SMDebugTypeError):
        trial.steps(mode="TRAIN")  # type: ignore[arg-type]


def test_a_collection_of_the_caller_chooses_tensors(trial: Trial) -> None:
    mine = Collection("mine", include_regex="^grad", tensor_names={"loss", "never saved"})
    assert trial.tensor_names(collection=mine) == ["gradient/fc.weight", "loss"]
    assert trial.tensor_names(collection=Collection("empty")) == []


def test_a_collection_can_be_made_and_changed(trial: Trial) -> None:
    made = trial.collection("made here")
    assert trial.tensor_names(collection="made here") == []
    made.include("weight$")
    assert trial.tensor_names(collection="made here") == ["fc.weight", "gradient/fc.weight"]
    assert trial.collections()["made here"] is made
    assert trial.collection("losses") is trial.collection("losses")


def test_collections_are_those_of_the_run(trial: Trial) -> None:
    found = trial.collections()
    assert {"all", "default", "weights", "biases", "gradients", "losses"} == set(found)
    assert found["gradients"].include_regex == ["^gradient"]
    save_config = found["weights"].save_config
    assert save_config is not None
    assert save_config.get_save_config(ModeKeys.TRAIN).save_interval == 1


def test_steps_are_counted_in_each_mode(trial: Trial) -> None:
    assert trial.steps() == [0, 1, 2, 3, 4]
    assert trial.steps(ModeKeys.TRAIN) == [0, 1, 2, 3]
    assert trial.steps(mode=ModeKeys.EVAL) == [0]
    assert trial.steps(ModeKeys.PREDICT, show_incomplete_steps=True) == []
    assert trial.modes() == {ModeKeys.TRAIN, ModeKeys.EVAL}
    assert (trial.mode(2), trial.mode_step(2)) == (ModeKeys.EVAL, 0)
    assert trial.mode_modestep(4) == (ModeKeys.TRAIN, 3)
    assert (trial.mode(9), trial.mode_step(9)) == (None, None)
    assert trial.global_step(ModeKeys.TRAIN, 2) == 3
    assert trial.global_step(ModeKeys.GLOBAL, 77) == 77
    assert trial.global_step(ModeKeys.EVAL, 1) is None
    assert trial.has_passed_step(2) is StepState.AVAILABLE
    assert trial.has_passed_step(5) is StepState.UNAVAILABLE


def test_steps_may_be_numbers_of_numpy(trial: Trial) -> None:
    assert trial.mode_step(np.int64(4)) == 3  # type: ignore[arg-type]
    assert trial.tensor("loss").value(np.int32(1)) == 0.5  # type: ignore[arg-type]


def test_attributes_tell_how_far_it_was_read(run: Path) -> None:
    trial = create_trial(run)
    assert not trial.loaded_all_steps
    assert trial.dynamic_refresh
    trial.steps()
    assert trial.loaded_all_steps
    assert trial.last_complete_step == 4
    assert trial.last_index_token == str(run / "index/000000000/000000000004_worker_0.json")
    assert trial.num_workers == 1
    assert trial.workers() == ["worker_0"]
    assert trial.damage() == []


def test_a_trial_takes_any_attribute(trial: Trial) -> None:
    trial.note = "mine"  # type: ignore[attr-defined]
    assert trial.note == "mine"  # type: ignore[attr-defined]


def test_the_end_delay_takes_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_TRAINING_END_DELAY_REFRESH", "1000000")
    run = shutil.copytree(GOLDEN / "reference_training/run", tmp_path / "run")
    (run / "training_job_end.ts").touch()
    trial = create_trial(run)
    assert trial.training_end_delay_refresh == 1000000
    trial.training_end_delay_refresh = 0.01
    assert trial.training_end_delay_refresh == 0.01
    assert trial.steps()
    assert trial.loaded_all_steps


def test_a_range_hides_other_steps(run: Path) -> None:
    assert create_trial(run, range_steps=(1, 3)).steps() == [1, 2]
    assert create_trial(run, range_steps=(3, None)).steps() == [3, 4]
    assert create_trial(run, range_steps=(None, 1)).steps() == [0]


@pytest.mark.parametrize("bad", [(3, 1), (2, 2), (-1, 2), ("0", 3)])
def test_a_bad_range_is_refused(run: Path, bad: tuple[int, int]) -> None:
    with pytest.raises(AssertionError, match="range_steps"):
        create_trial(run, range_steps=bad)


def test_equality_is_by_name_and_path(run: Path) -> None:
    one, other = create_trial(run), create_trial(run)
    assert one == other
    assert hash(one) == hash(other)
    assert one != create_trial(run, name="other")
    assert one != "run"


def test_the_text_tells_what_is_in_it(trial: Trial, run: Path) -> None:
    text = repr(trial)
    for part in ("first", str(run), "[0, 1, 2, 3, 4]", "'gradients'", "'gradient/fc.weight'"):
        assert part in text


def test_the_text_of_a_large_run_is_short(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "large") as run:
        run.save_step({f"tensor_{i}": np.float32(i) for i in range(2000)})
    assert len(repr(create_trial(tmp_path / "large"))) < 10_000


def test_inputs_labels_and_predictions(tmp_path: Path) -> None:
    inputs = {"name": "inputs", "include_regex": ["^input"]}
    with NativeRun(tmp_path / "run", collections=[inputs]) as run:
        run.save_step({f"{name}_{i}": [i] for name in ("input", "labels") for i in (10, 2)})
        run.save_step({"predictions": [7]}, ModeKeys.EVAL)
    trial = create_trial(tmp_path / "run")
    assert [value[0] for value in trial.inputs(0)] == [2, 10]
    assert [value[0] for value in trial.labels(0)] == [2, 10]
    assert [value[0] for value in trial.predictions(0, ModeKeys.EVAL)] == [7]


def test_refreshing_is_put_back(trial: Trial) -> None:
    with pytest.raises(KeyError), no_refresh([trial]):
        assert not trial.dynamic_refresh
        with refresh(trial) as same:
            assert same is trial
            assert trial.dynamic_refresh
        assert not trial.dynamic_refresh
        raise KeyError
    assert trial.dynamic_refresh


def test_damage_costs_its_step_only(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    index = run / "index/000000000/000000000003_worker_0.json"
    index.write_bytes(index.read_bytes()[:-20])
    with logged() as texts:
        trial = create_trial(run)
    assert any(index.name in text for text in texts)
    assert trial.steps() == [0, 1, 2, 4]
    assert [damage.file for damage in trial.damage()] == [
        "index/000000000/000000000003_worker_0.json"
    ]
    with pytest.raises(IndexReaderException, match="000000000003_worker_0"):
        trial.tensor("loss").value(3)
    assert trial.tensor("loss").value(4) == 0.2


def test_tensors_that_were_never_saved(trial: Trial) -> None:
    assert trial.has_tensor("loss")
    assert not trial.has_tensor("nope")
    with pytest.raises(TensorUnavailable) as caught:
        trial.tensor("nope")
    assert caught.value.tname == "nope"


def test_a_scalar_is_found_by_the_name_it_was_saved_with(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as made:
        made.save_step({"loss": 1.0}, scalars={"accuracy": 0.5, "loss": 2.0})
    trial = create_trial(tmp_path / "run")
    assert trial.tensor_names() == ["loss", "scalar/accuracy", "scalar/loss"]
    assert trial.has_tensor("accuracy")
    assert trial.tensor("accuracy").name == "scalar/accuracy"
    assert trial.tensor("accuracy").values() == trial.tensor("scalar/accuracy").values()
    assert trial.tensor("loss").name == "loss"
    assert not trial.has_tensor("scalar/nope")


def test_collections_that_never_came(tmp_path: Path) -> None:
    (tmp_path / "training_job_end.ts").touch()
    with pytest.raises(MissingCollectionFiles, match="before it saved anything"):
        create_trial(tmp_path)


def test_collections_that_were_removed(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    shutil.rmtree(run / "collections")
    with pytest.raises(MissingCollectionFiles, match="collections files are missing"):
        create_trial(run)


@pytest.mark.parametrize("name", ["reference_training", "reference_devices", "own_training"])
def test_golden_runs_are_read(name: str) -> None:
    trial = LocalTrial(name, os.fspath(GOLDEN / name / "run"))
    assert trial.steps(show_incomplete_steps=True)
    assert trial.tensor_names()
    for tensor in map(trial.tensor, trial.tensor_names()):
        assert tensor.steps(show_incomplete_steps=True)


def test_an_empty_path_is_refused() -> None:
    with pytest.raises(SMDebugValueError, match="path of a run"):
        create_trial(" ")


WRONG_CALLS: dict[str, Callable[[Trial], object]] = {
    "tname: 5 .* a name": lambda trial: trial.tensor(5),  # type: ignore[arg-type]
    "tname: None .* a name": lambda trial: trial.has_tensor(None),  # type: ignore[arg-type]
    "step_num: 'x' .* whole number": lambda trial: trial.tensor("loss").value("x"),  # type: ignore[arg-type]
    "step_num: 0.0 .* whole number": lambda trial: trial.tensor("loss").value(0.0),  # type: ignore[arg-type]
    "step_num: '0' ": lambda trial: trial.tensor("loss").shape("0"),  # type: ignore[arg-type]
    "worker: 5 .* worker": lambda trial: trial.tensor("loss").value(0, worker=5),  # type: ignore[arg-type]
    "reduction_name: 5 ": lambda trial: trial.tensor("loss").reduction_value(0, 5),  # type: ignore[arg-type]
    "required_steps: 'a' .* a list of whole": lambda trial: trial.wait_for_steps("a"),  # type: ignore[arg-type]
    "required_steps: 5 .* a list of whole": lambda trial: trial.wait_for_steps(5),  # type: ignore[arg-type]
    "required_steps: 'b' .* whole": lambda trial: trial.wait_for_steps(["b"]),  # type: ignore[list-item]
    "regex: 5 .* a regular": lambda trial: trial.tensor_names(regex=5),  # type: ignore[arg-type]
    "step: 'a' .* whole": lambda trial: trial.tensor_names(step="a"),  # type: ignore[arg-type]
    "collection: 5 .* a name": lambda trial: trial.tensor_names(collection=5),  # type: ignore[arg-type]
    "coll_name: 5 .* a name": lambda trial: trial.collection(5),  # type: ignore[arg-type]
    "mode: 1 .* smdebug.modes": lambda trial: trial.steps(1),  # type: ignore[arg-type]
    "path: b'ok2' .* a path": lambda _: create_trial(b"ok2"),  # type: ignore[arg-type]
    "path: 5 .* a path": lambda _: create_trial(5),  # type: ignore[arg-type]
    "name: 5 .* a name": lambda trial: create_trial(trial.path, 5),  # type: ignore[arg-type]
    "range_steps: 5 .* begin": lambda trial: create_trial(trial.path, range_steps=5),
}


@pytest.mark.parametrize("text", WRONG_CALLS)
def test_arguments_of_a_wrong_type_are_named(text: str, trial: Trial) -> None:
    with pytest.raises(SMDebugTypeError, match=text):
        WRONG_CALLS[text](trial)


def test_a_path_with_a_nul_character_is_refused() -> None:
    with pytest.raises(SMDebugValueError, match=r"path: .* NUL"):
        create_trial("a\0b")


def test_numbers_of_numpy_are_steps(trial: Trial) -> None:
    loss = trial.tensor("loss")
    assert loss.value(np.int64(0)) == loss.value(0)  # type: ignore[arg-type]
    trial.wait_for_steps(np.arange(2))
    with pytest.raises(SMDebugValueError, match="step_num"):
        loss.value(10**20)


def test_the_error_of_a_damaged_file_names_it(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    (events,) = run.glob("events/*/000000000001_*.tfevents")
    (index,) = run.glob("index/*/000000000002_*.json")
    events.write_bytes(events.read_bytes()[:40])
    index.write_text("{")
    trial = create_trial(str(run))
    with pytest.raises(SMDebugRuntimeError) as cut:
        trial.tensor("loss").value(1)
    with pytest.raises(IndexReaderException) as torn:
        trial.tensor("loss").value(2)
    for error, file, kind in (
        (cut.value, events, "short_content"),
        (torn.value, index, "bad_index"),
    ):
        assert error.file == str(file.relative_to(run))
        assert str(error) == f"{error.file}: {error.reason}"
        assert error.kind == kind
        again = pickle.loads(pickle.dumps(error))
        assert (again.file, again.kind) == (error.file, error.kind)
    assert SMDebugRuntimeError("x").file == ""
