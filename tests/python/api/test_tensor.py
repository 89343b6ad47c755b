"""What a tensor of a trial tells."""

from __future__ import annotations

import gc
import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from smdebug.core.modes import ModeKeys
from smdebug.core.tensor import Tensor
from smdebug.exceptions import (
    InvalidWorker,
    ShapeUnavailableForStep,
    SMDebugNotImplementedError,
    SMDebugRuntimeError,
    SMDebugValueError,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)
from smdebug.trials import Trial, create_trial
from smdebug.trials.tensor import Number
from support.native_run import NativeRun, make_run

GOLDEN = Path(__file__).resolve().parents[2] / "golden"

# Runs of smdebug 1.0 that have reductions, and values.
OF_1_0 = {"saved": "reference_training/run", "computed": "reference_training/run"}


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return create_trial(make_run(tmp_path_factory.mktemp("runs") / "raw"))


@pytest.fixture(scope="module")
def reduced(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    folder = tmp_path_factory.mktemp("runs") / "reduced"
    config = {"reductions": "mean,abs_max,l1_norm,abs_l2_norm", "save_raw_tensor": False}
    with NativeRun(folder, reduction_config=config) as run:
        run.save_step({"x": np.array([[3.0, -4.0], [0.0, np.nan]])})
        run.save_step({"x": np.array([[3.0, -4.0], [0.0, 0.0]]), "later": [1.0]})
    return create_trial(folder)


def test_values_are_what_was_saved(trial: Trial) -> None:
    weight = trial.tensor("fc.weight")
    assert isinstance(weight, Tensor)
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(weight.value(3), expected * 3)
    assert weight.value(3).dtype == np.float32
    np.testing.assert_array_equal(weight.value(0, mode=ModeKeys.EVAL), expected * 2)
    np.testing.assert_array_equal(weight.value(0, worker="worker_0"), expected * 0)
    assert {step: value[0, 1] for step, value in weight.values().items()} == {
        step: step for step in range(5)
    }
    assert list(weight.values(ModeKeys.TRAIN)) == [0, 1, 2, 3]


def test_values_cannot_be_written(trial: Trial) -> None:
    value = trial.tensor("fc.weight").value(1)
    with pytest.raises(ValueError, match="read-only"):
        value[0, 0] = 7
    with pytest.raises(ValueError, match="WRITEABLE"):
        value.setflags(write=True)


def test_values_outlive_their_trial(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": np.arange(100_000.0)})
    value = create_trial(tmp_path / "run").tensor("x").value(0)
    gc.collect()
    np.testing.assert_array_equal(value, np.arange(100_000.0))


def test_a_tensor_keeps_its_trial(tmp_path: Path) -> None:
    tensor = create_trial(make_run(tmp_path / "run")).tensor("loss")
    gc.collect()
    assert tensor.value(1) == 0.5


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REALS = ["float16", "float32", "float64"]


@pytest.mark.parametrize("name", ["bool", *INTEGERS, *REALS, "complex64", "complex128"])
def test_element_types_are_kept(tmp_path: Path, name: str) -> None:
    saved = np.array([[0, 1, 2]]).astype(name)
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": saved})
    value = create_trial(tmp_path / "run").tensor("x").value(0)
    assert value.dtype == saved.dtype
    np.testing.assert_array_equal(value, saved)


EXOTIC = """
import sys
from pathlib import Path
import numpy as np
from smdebug.trials import create_trial
if sys.argv[2] == "without":
    sys.modules["ml_dtypes"] = None
value = create_trial(sys.argv[1]).tensor("x").value(0)
print(value.dtype, value.astype(np.float64).tolist())
"""


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("ml_dtypes", ["with", "without"])
def test_types_that_numpy_lacks(tmp_path: Path, name: str, ml_dtypes: str) -> None:
    types = pytest.importorskip("ml_dtypes")
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": np.array([0.5, -2, 3]).astype(getattr(types, name))})
    out = subprocess.run(
        [sys.executable, "-c", EXOTIC, str(tmp_path / "run"), ml_dtypes],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert out == f"{name if ml_dtypes == 'with' else 'float32'} [0.5, -2.0, 3.0]\n"


def test_strings_are_texts(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"words": ["one", "zwölf", ""]})
    value = create_trial(tmp_path / "run").tensor("words").value(0)
    assert value.tolist() == ["one", "zwölf", ""]
    assert value.dtype.kind == "U"
    assert not value.flags.writeable


def test_golden_types_are_read() -> None:
    trial = create_trial(GOLDEN / "reference_dtypes/run")
    names = trial.tensor_names()
    assert len(names) > len(INTEGERS)
    for name in names:
        kind = name.partition("/")[0]
        value = trial.tensor(name).value(0)
        assert value.dtype.name == kind or kind == "strings"
        assert ("empty" in name) == (value.size == 0)


def test_saved_reductions_are_numbers(reduced: Trial) -> None:
    x = reduced.tensor("x")
    assert x.reduction_values(1) == {
        ("mean", False): -0.25,
        ("max", True): 4.0,
        ("l1", False): 7.0,
        ("l2", True): 5.0,
    }
    check_is_usable(x.reduction_value(1, "max", abs=True), 4.0)
    for key, value in x.reduction_values(1).items():
        check_is_usable(value, {"mean": -0.25, "max": 4.0, "l1": 7.0, "l2": 5.0}[key[0]])


def check_is_usable(value: Number, expected: float) -> None:
    """As a float, and as what programs for smdebug 1.0 take it for; without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(value) == expected
        assert isinstance(value, float)
        assert f"{value:.3f}" == f"{expected:.3f}"
        assert value < expected + 1
        assert expected - 1 < value
        assert abs(value) == abs(expected)
        assert bool(value) == bool(expected)
        assert (value[0], value[-1], value.item()) == (expected, expected, expected)
        assert (len(value), [*value]) == (1, [expected])
        assert value - expected == 0
        assert not np.isnan(value)
        assert np.abs(value) == abs(expected)
        assert np.array([value, value]).tolist() == [expected, expected]
        assert json.loads(json.dumps(value)) == expected
        assert pickle.loads(pickle.dumps(value))[0] == expected


@pytest.mark.parametrize("kind", ["saved", "computed"])
def test_reductions_of_smdebug_1_0_are_numbers(kind: str) -> None:
    trial = create_trial(GOLDEN / OF_1_0[kind])
    found = 0
    for name in trial.tensor_names():
        tensor = trial.tensor(name)
        for step in tensor.steps():
            if kind == "saved":
                for value in tensor.reduction_values(step).values():
                    found += 1
                    check_is_usable(value, float(value))
            elif tensor.saved(step)[0] is not None and tensor.value(step).size:
                found += 1
                mean = tensor.reduction_value(step, "mean")
                check_is_usable(mean, float(np.mean(tensor.value(step).astype(np.float64))))
    assert found


@pytest.mark.parametrize(
    ("name", "abs"),
    [("l1", False), ("l1_norm", False)],
)
def test_names_of_norms(reduced: Trial, name: str, abs: bool) -> None:
    assert reduced.tensor("x").reduction_value(1, name, abs=abs) == 7


@pytest.mark.parametrize("name", ["abs_l2", "abs_l2_norm"])
def test_names_of_reductions_of_absolute_values(reduced: Trial, name: str) -> None:
    assert reduced.tensor("x").reduction_value(1, name) == 5
    assert reduced.tensor("x").reduction_value(1, "l2", abs=True) == 5


def test_reductions_are_computed_from_values(trial: Trial) -> None:
    weight = trial.tensor("gradient/fc.weight")
    value = weight.value(2).astype(np.float64)
    assert weight.reduction_values(2) == {}
    for name in ("min", "max", "mean", "median", "std", "sum", "prod"):
        assert float(weight.reduction_value(2, name)) == pytest.approx(getattr(np, name)(value))
    assert weight.reduction_value(2, "variance") == pytest.approx(value.var())
    assert weight.reduction_value(2, "l1") == pytest.approx(np.abs(value).sum())
    assert weight.reduction_value(2, "l2") == pytest.approx(np.linalg.norm(value.ravel()))
    assert weight.reduction_value(2, "max", abs=True) == np.abs(value).max()
    with pytest.raises(SMDebugValueError, match="mode of the values"):
        weight.reduction_value(2, "mode of the values")


def test_only_reductions_were_saved(reduced: Trial) -> None:
    x = reduced.tensor("x")
    with pytest.raises(TensorUnavailableForStep) as caught:
        x.value(1)
    error = caught.value
    assert (error.tname, error.step, error.mode) == ("x", 1, ModeKeys.GLOBAL)
    assert error.has_reductions
    with pytest.raises(
        TensorUnavailableForStep, match="Saved: abs_l2, abs_max, l1, mean"
    ) as no_min:
        x.reduction_value(1, "min")
    assert "Saved: " in str(pickle.loads(pickle.dumps(no_min.value)))
    with pytest.raises(SMDebugValueError, match=r"reduction_name: 'meann' .*; did you mean 'mean'"):
        x.reduction_value(1, "meann")
    with pytest.raises(ShapeUnavailableForStep) as no_shape:
        x.shape(1)
    assert (no_shape.value.tname, no_shape.value.step) == ("x", 1)
    assert x.counts(0) == {"count": 4, "nan": 1, "pos_inf": 0, "neg_inf": 0, "zero": 1}
    assert x.saved(0)[0] is None


def test_a_name_that_is_nearly_right_is_suggested(reduced: Trial) -> None:
    with pytest.raises(TensorUnavailable, match="Did you mean 'later'") as caught:
        reduced.tensor("latter")
    assert caught.value.tname == "latter"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(TensorUnavailable, match=r"was not saved\.$"):
        reduced.tensor("something else")


def test_what_is_missing_at_a_step(reduced: Trial) -> None:
    with pytest.raises(TensorUnavailableForStep) as missing:
        reduced.tensor("later").value(0)
    assert not missing.value.has_reductions
    with pytest.raises(StepUnavailable) as after:
        reduced.tensor("x").reduction_value(2, "mean")
    assert (after.value.step, after.value.mode) == (2, ModeKeys.GLOBAL)
    with pytest.raises(InvalidWorker) as worker:
        reduced.tensor("x").reduction_value(0, "mean", worker="worker_7")
    assert worker.value.worker == "worker_7"


def test_shapes(trial: Trial, tmp_path: Path) -> None:
    assert trial.tensor("fc.weight").shape(0) == (2, 3)
    assert trial.tensor("loss").shapes(ModeKeys.EVAL) == {0: ()}
    config = {"save_shape": True, "reductions": "mean", "save_raw_tensor": False}
    with NativeRun(tmp_path / "run", reduction_config=config) as run:
        run.save_step({"x": np.zeros((4, 5, 6))})
    x = create_trial(tmp_path / "run").tensor("x")
    assert x.shapes() == {0: (4, 5, 6)}
    assert x.original_name == "x"
    assert trial.tensor("loss").original_name is None


def test_steps_before_a_step(trial: Trial) -> None:
    loss = trial.tensor("loss")
    assert loss.prev_steps(3) == [0, 1, 2, 3]
    assert loss.prev_steps(3, 2) == [2, 3]
    assert loss.prev_steps(99, n=1, mode=ModeKeys.TRAIN) == [3]
    assert loss.prev_steps(2, n=0) == [0, 1, 2]
    with pytest.raises(SMDebugValueError, match="n: '-1' is not allowed"):
        loss.prev_steps(2, n=-1)


def test_a_step_by_itself_is_nothing(trial: Trial) -> None:
    with pytest.raises(SMDebugNotImplementedError):
        trial.tensor("loss").step(0)


def test_tensors_are_equal_by_trial_and_name(trial: Trial) -> None:
    assert trial.tensor("loss") == trial.tensor("loss")
    assert len({trial.tensor("loss"), trial.tensor("loss"), trial.tensor("fc.weight")}) == 2


def test_a_damaged_value_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    events = run / "events/000000000001/000000000001_worker_0.tfevents"
    content = bytearray(events.read_bytes())
    at = content.index(np.arange(6, dtype=np.float32).tobytes())
    content[at + 5] ^= 1
    events.write_bytes(content)
    trial = create_trial(run)
    with pytest.raises(SMDebugRuntimeError, match=r"000000000001_worker_0.*\(step 1\)"):
        trial.tensor("fc.weight").value(1)
    assert [damage.tensor for damage in trial.damage()] == ["fc.weight"]
    assert trial.tensor("loss").value(1) == 0.5


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    name = "events/000000000001/000000000001_worker_0.tfevents"
    (run / name).unlink()
    trial = create_trial(run)
    with pytest.raises(TensorUnavailableForStep, match=f"as {name} is missing") as missing:
        trial.tensor("fc.weight").value(1)
    assert missing.value.missing_file == name
    assert [damage.file for damage in trial.damage()] == [name]
    assert trial.tensor("fc.weight").value(0).shape == (2, 3)
