"""The adapter for LibTorch: its own tests, its Python twin, and the examples."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smdebug.pytorch as smd
from smdebug.trials import Trial
from support import fake_device, libtorch_twin

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "everything": {"HookParameters": {"save_all": "true", "save_interval": "1"}},
    "defaults": {"HookParameters": {"save_interval": "2"}},
    "collections": {
        "HookParameters": {"train.save_interval": "2", "eval.save_interval": "1"},
        "CollectionConfigurations": [
            {"CollectionName": "gradients", "CollectionParameters": {"reductions": "mean,max"}},
            {"CollectionName": "biases"},
            {"CollectionName": "relus", "CollectionParameters": {"include_regex": "relu_out"}},
        ],
    },
}

# Which the hook for Python leaves out.
BUFFERS = {f"Net_norm.{name}" for name in ("running_mean", "running_var", "num_batches_tracked")}


def run(program: Path, *args: object, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [str(program), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def read(folder: Path) -> Trial:
    trial = smd.create_trial(str(folder))
    trial.training_end_delay_refresh = 0.01
    return trial


@pytest.mark.parametrize("as_device", ["0", "1"])
def test_the_adapter_keeps_its_promises(
    as_device: str, programs: Path, environment: dict[str, str]
) -> None:
    environment = {**environment, "SMDEBUG_CPU_AS_DEVICE": as_device}
    done = run(programs / "libtorch_hook_test", env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_adapter_saves_what_is_on_a_device(programs: Path, environment: dict[str, str]) -> None:
    reason = fake_device.unavailable()
    if reason:
        pytest.skip(reason)
    environment = {**environment, "SMDEBUG_FAKE_DEVICE": str(fake_device.build())}
    done = run(programs / "libtorch_device_test", env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("as_device", ["0", "1"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_cpp_and_python_save_the_same(
    name: str, as_device: str, programs: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    environment = {**environment, "SMDEBUG_CPU_AS_DEVICE": as_device}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**CONFIGURATIONS[name], "LocalPath": str(tmp_path / "unused")}))
    done = run(programs / "libtorch_twin", tmp_path / "cpp", config, env=environment)
    assert done.returncode == 0, done.stderr
    libtorch_twin.train(tmp_path / "python", config)

    cpp, python = read(tmp_path / "cpp"), read(tmp_path / "python")
    assert cpp.steps() == python.steps()
    buffers = BUFFERS if name == "everything" else set()
    assert set(cpp.tensor_names()) == set(python.tensor_names()) | buffers
    for collection in python.collections():
        names = set(cpp.tensor_names(collection=collection))
        assert names - BUFFERS == set(python.tensor_names(collection=collection)), collection
    for mode in (smd.modes.TRAIN, smd.modes.EVAL):
        assert python.steps(mode)
        assert cpp.steps(mode) == python.steps(mode)
        for step in python.steps(mode):
            names = set(python.tensor_names(step=step, mode=mode))
            assert names
            assert set(cpp.tensor_names(step=step, mode=mode)) == names | buffers
            for tensor in names:
                ours, theirs = cpp.tensor(tensor), python.tensor(tensor)
                reductions = theirs.reduction_values(step, mode)
                # A device adds up in another order.
                rounding = 1e-13 if as_device == "1" else 0
                assert ours.reduction_values(step, mode) == pytest.approx(
                    reductions, rel=rounding, abs=0
                )
                if not reductions:
                    np.testing.assert_array_equal(
                        ours.value(step, mode), theirs.value(step, mode), strict=True
                    )


def test_the_classifier_learns_and_is_saved(
    programs: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    done = run(programs / "libtorch_classifier", tmp_path / "run", env=environment)
    assert done.returncode == 0, done.stderr
    trial = read(tmp_path / "run")
    assert trial.steps(smd.modes.TRAIN) == list(range(0, 180, 20))
    losses = trial.tensor("CrossEntropyLoss_output_0").values(smd.modes.TRAIN)
    assert losses[160] < losses[0] / 2
    assert set(trial.tensor_names(collection="gradients")) == {
        f"gradient/Net_{layer}.{kind}" for layer in ("fc1", "fc2") for kind in ("weight", "bias")
    }
    assert "relu_output_0" in trial.tensor_names(step=0, mode=smd.modes.TRAIN)


def test_the_rule_stops_what_goes_wrong(
    programs: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    done = run(programs / "libtorch_goes_wrong", tmp_path / "run", env=environment)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith("stopped: ExplodingTensor at step ")
    assert ": gradient/Sequential_" in done.stdout
