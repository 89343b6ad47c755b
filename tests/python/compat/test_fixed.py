"""smdebug 1.0 opens runs of the kinds that its documentation shows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compat.opened import check_collections, check_run, open_run
from smdebug.core.modes import ModeKeys
from smdebug.core.tfevent.event_file_reader import EventFileReader
from support import model
from support.config import BUILT_IN, MODES, RAW, CollectionSpec, Form, HookSpec, Schedule
from support.driver import Driver, DriverError
from support.scenario import (
    Action,
    BeginStep,
    Close,
    EndStep,
    Save,
    SaveScalar,
    Scenario,
    SetMode,
)

EVERY_STEP = dict.fromkeys(MODES, Schedule(save_interval=1))
WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)


def training(steps: int, hook: int = 0) -> list[Action]:
    """A loop that saves a weight, its gradient, an activation and the loss."""
    actions: list[Action] = []
    for step in range(steps):
        actions += [
            BeginStep(hook=hook),
            Save("fc.weight", WEIGHT + step, hook=hook),
            Save("gradient/fc.weight", -WEIGHT, hook=hook),
            Save("relu_output_0", np.maximum(WEIGHT - step, 0), hook=hook),
            Save("CrossEntropyLoss_output_0", np.array(1 / (step + 1)), hook=hook),
        ]
    return actions


def play(driver: Driver, folder: Path, hook: HookSpec, actions: list[Action]) -> Any:  # noqa: ANN401
    """Plays, opens and checks a run; returns 1.0's trial."""
    scenario = Scenario([hook], actions)
    driver.play(scenario, folder)
    (run,) = model.play(scenario)
    trial = open_run(Path(hook.out_dir))
    check_run(trial, run)
    check_collections(trial, run)
    return trial


@pytest.fixture
def spec(tmp_path: Path) -> HookSpec:
    return HookSpec(str(tmp_path / "run"), schedules=EVERY_STEP)


def test_the_default_configuration_saves_losses(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    trial = play(driver, tmp_path, replace(spec, schedules=None), training(3))
    assert trial.tensor_names() == ["CrossEntropyLoss_output_0"]
    assert trial.steps() == [0]


def test_save_all_saves_everything(driver: Driver, tmp_path: Path, spec: HookSpec) -> None:
    trial = play(driver, tmp_path, replace(spec, save_all=True), training(3))
    assert len(trial.tensor_names()) == 4
    assert trial.tensor_names(collection="weights") == ["fc.weight"]
    assert trial.tensor_names(collection="gradients") == ["gradient/fc.weight"]


def test_gradients_are_not_due_in_evaluation(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    hook = replace(spec, include_collections=("weights", "gradients"))
    actions: list[Action] = [SetMode("TRAIN"), *training(2), SetMode("EVAL"), *training(2)]
    trial = play(driver, tmp_path, hook, actions)
    assert trial.tensor("gradient/fc.weight").steps(ModeKeys.EVAL) == []
    assert trial.tensor("fc.weight").steps(ModeKeys.EVAL) == [0, 1]
    assert trial.global_step(ModeKeys.EVAL, 1) == 3


def test_step_numbers_of_the_trainer_are_kept(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    actions: list[Action] = []
    for step in (0, 7, 1000, 1_000_000):
        actions += [BeginStep(step), Save("loss", np.array(step))]
    trial = play(driver, tmp_path, spec, actions)
    assert trial.steps() == [0, 7, 1000, 1_000_000]


def test_a_tensor_joins_the_collections_it_is_saved_to(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    actions: list[Action] = [BeginStep(), Save("mine", WEIGHT, ("default", "fresh"))]
    trial = play(driver, tmp_path, spec, actions)
    assert trial.tensor_names(collection="fresh") == ["mine"]
    assert trial.tensor_names(collection="default") == ["mine"]


def test_a_median_is_readable_and_does_not_close_the_run_to_1_0(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    hook = replace(spec, save_all=True, form=Form(("median", "mean", "abs_median")))
    trial = play(driver, tmp_path, hook, training(1))
    assert float(trial.tensor("fc.weight").reduction_value(0, "median")) == 2.5


def test_raw_values_and_shapes_together_keep_the_values(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    hook = replace(spec, save_all=True, form=replace(RAW, save_shape=True))
    trial = play(driver, tmp_path, hook, training(1))
    np.testing.assert_array_equal(trial.tensor("fc.weight").value(0), WEIGHT)


def test_shapes_alone_need_no_event_file(driver: Driver, tmp_path: Path, spec: HookSpec) -> None:
    hook = replace(spec, include_collections=("weights",), form=Form(save_shape=True))
    actions: list[Action] = [BeginStep(), Save("fc.weight", WEIGHT)]
    trial = play(driver, tmp_path, hook, actions)
    assert tuple(trial.tensor("fc.weight").shape(0)) == (2, 3)
    assert not list(Path(hook.out_dir).glob("events/*/*"))


def test_scalars_of_steps_without_files_ride_in_the_next_file(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    hook = replace(spec, schedules={"GLOBAL": Schedule(save_interval=3)})
    actions: list[Action] = []
    for step in range(7):
        actions += [BeginStep(), Save("loss", np.array(0.5)), SaveScalar("lr", float(step))]
    trial = play(driver, tmp_path, hook, actions)
    assert trial.tensor("scalar/lr").steps() == [0, 3, 6]
    assert [float(v) for v in trial.tensor("scalar/lr").values().values()] == [0, 3, 6]


def test_a_scalar_after_the_last_step_opens_nothing_again(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    actions: list[Action] = [
        SetMode("TRAIN"),
        *training(2),
        EndStep(),
        SetMode("EVAL"),
        SaveScalar("accuracy", 0.5),
        Close(),
    ]
    trial = play(driver, tmp_path, replace(spec, save_all=True), actions)
    assert len(trial.tensor_names(step=1)) == 4


def test_a_scalar_without_any_step_is_readable(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    trial = play(driver, tmp_path, spec, [SaveScalar("seed", 42.0)])
    assert float(trial.tensor("scalar/seed").value(0)) == 42


# 1.0 leaves its file open.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_timestamp_is_kept(driver: Driver, tmp_path: Path, spec: HookSpec) -> None:
    actions: list[Action] = [BeginStep(), SaveScalar("lr", 0.1, timestamp=1234567890.5)]
    play(driver, tmp_path, spec, actions)
    (file,) = Path(spec.out_dir).glob("events/*/*.tfevents")
    (event,) = EventFileReader(str(file)).read_events()
    assert event.wall_time == 1234567890.5


def test_all_workers_are_found_in_one_folder(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    shared = replace(spec, save_all=True, include_workers="all", workers=3)
    hooks = [replace(shared, rank=rank) for rank in range(3)]
    actions: list[Action] = []
    for step in range(3):
        for rank in range(3):
            actions += [BeginStep(hook=rank), Save("x", np.array([step, rank]), hook=rank)]
    scenario = Scenario(hooks, actions)
    driver.play(scenario, tmp_path)

    trial = open_run(Path(spec.out_dir))
    assert trial.workers() == ["worker_0", "worker_1", "worker_2"]
    assert trial.steps() == [0, 1, 2]
    for run, worker in zip(model.play(scenario), trial.workers()):
        check_run(trial, run, worker)
        check_collections(trial, run)


DEVICES = [f"/job:worker/replica:0/task:0/device:GPU:{gpu}" for gpu in (0, 1)]


def test_a_process_that_is_several_workers_is_read_as_each(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    hook = replace(spec, save_all=True, include_workers="all", extra={"devices": DEVICES})
    actions: list[Action] = []
    for step in range(3):
        actions += [BeginStep(), Save("loss", np.array(1 / (step + 1)))]
        actions += [Save("w", WEIGHT + step + 10 * gpu, worker=gpu) for gpu in (0, 1)]
    driver.play(Scenario([hook], actions), tmp_path)

    trial = open_run(Path(spec.out_dir))
    assert trial.workers() == DEVICES
    assert trial.steps() == [0, 1, 2]
    for step in range(3):
        for gpu, device in enumerate(DEVICES):
            value = trial.tensor("w").value(step, worker=device)
            np.testing.assert_array_equal(value, WEIGHT + step + 10 * gpu)
            assert trial.tensor("loss").value(step, worker=device) == 1 / (step + 1)
    files = {path.name for path in Path(spec.out_dir).glob("index/*/*.json")}
    serialised = [f"_job-worker_replica-0_task-0_device-GPU-{gpu}" for gpu in (0, 1)]
    assert files == {f"{step:012}_{name}.json" for step in range(3) for name in serialised}


def test_the_original_name_is_beside_the_shape(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    hook = replace(spec, save_all=True, form=Form(("mean",), save_shape=True))
    named = Save("conv/weights/conv/kernel:0", WEIGHT, original_name="conv/kernel:0")
    driver.play(Scenario([hook], [BeginStep(), named, Save("x", WEIGHT)]), tmp_path)
    trial = open_run(Path(spec.out_dir))
    assert trial.tensor(named.name).original_name == "conv/kernel:0"
    assert trial.tensor("x").original_name == "x"


def test_metrics_of_the_job_are_in_their_collection(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    metric = SaveScalar("accuracy", 0.5, sm_metric=True)
    actions: list[Action] = [BeginStep(), Save("w", WEIGHT), metric, SaveScalar("lr", 0.1)]
    driver.play(Scenario([replace(spec, save_all=True)], actions), tmp_path)
    trial = open_run(Path(spec.out_dir))
    assert trial.tensor_names(collection="sm_metrics") == ["scalar/accuracy"]


def test_one_worker_writes_where_one_is_asked_for(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    hooks = [replace(spec, save_all=True, workers=2, rank=rank) for rank in range(2)]
    scenario = Scenario(hooks, [*training(2), *training(2, hook=1)])
    driver.play(scenario, tmp_path)

    trial = open_run(Path(spec.out_dir))
    assert trial.workers() == ["worker_0"]
    check_run(trial, model.play(scenario)[0])


def test_a_dry_run_writes_no_tensors(driver: Driver, tmp_path: Path, spec: HookSpec) -> None:
    hook = replace(spec, save_all=True, dry_run=True)
    driver.play(Scenario([hook], [*training(2), SaveScalar("lr", 1.0)]), tmp_path)
    assert not list(Path(spec.out_dir).glob("events/**/*"))
    assert not list(Path(spec.out_dir).glob("index/**/*"))


def test_a_finished_run_is_not_written_into(driver: Driver, tmp_path: Path, spec: HookSpec) -> None:
    scenario = Scenario([spec], training(1))
    driver.play(scenario, tmp_path)
    with pytest.raises(DriverError, match="run"):
        driver.play(scenario, tmp_path)


# As the SageMaker SDK hands over the configurations of its documentation.
DOCUMENTED: dict[str, dict[str, Any]] = {
    "built-in collections": {
        "CollectionConfigurations": [{"CollectionName": "weights"}, {"CollectionName": "gradients"}]
    },
    "a schedule per mode": {
        "CollectionConfigurations": [
            {
                "CollectionName": "losses",
                "CollectionParameters": {"train.save_interval": "2", "eval.save_interval": "1"},
            }
        ]
    },
    "a custom collection": {
        "HookParameters": {"save_interval": "2", "end_step": "3"},
        "CollectionConfigurations": [
            {
                "CollectionName": "activations",
                "CollectionParameters": {
                    "include_regex": "relu|tanh",
                    "reductions": "mean,abs_max,l1_norm",
                    "save_raw_tensor": "true",
                },
            }
        ],
    },
}


def documented_spec(name: str, spec: HookSpec) -> HookSpec:
    """What each of DOCUMENTED means, in our own terms."""
    spec = replace(spec, schedules=None)
    if name == "built-in collections":
        return replace(spec, include_collections=("weights", "gradients"))
    if name == "a schedule per mode":
        schedules = {"TRAIN": Schedule(2), "EVAL": Schedule(1)}
        regex = tuple(BUILT_IN["losses"])
        return replace(spec, collections=(CollectionSpec("losses", regex, schedules=schedules),))
    form = Form(("mean", "abs_max", "l1"), save_raw_tensor=True)
    return replace(
        spec,
        schedules=dict.fromkeys(MODES, Schedule(2, end_step=3)),
        include_collections=("activations",),
        collections=(CollectionSpec("activations", ("relu|tanh",), form=form),),
    )


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_documented_configuration_means_what_it_says(
    driver: Driver, tmp_path: Path, spec: HookSpec, name: str
) -> None:
    config = {"S3OutputPath": "s3://bucket/path", "LocalPath": spec.out_dir, **DOCUMENTED[name]}
    actions: list[Action] = [SetMode("TRAIN"), *training(5), SetMode("EVAL"), *training(3)]
    meant = documented_spec(name, spec)
    (run,) = model.play(Scenario([meant], actions))

    as_written = HookSpec(spec.out_dir, extra={"json": json.dumps(config)})
    driver.play(Scenario([as_written], actions), tmp_path)
    trial = open_run(Path(spec.out_dir))
    check_run(trial, run)
    check_collections(trial, run)
