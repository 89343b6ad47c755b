"""NumPy itself loads what `smdebug export` writes."""

from __future__ import annotations

import csv
import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.config import MODES, HookSpec, Schedule
from support.driver import Driver
from support.scenario import Action, Array, BeginStep, Save, SaveScalar, Scenario, SetMode
from support.smdebug_program import smdebug, smdebug_json

RNG = np.random.default_rng(3)
EVERY_STEP = dict.fromkeys(MODES, Schedule(save_interval=1))

NUMBERS = [
    *("float16", "float32", "float64", "complex64", "complex128", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
]
TENSORS: dict[str, Array] = {
    **{name: RNG.integers(0, 2, (2, 3)).astype(name) for name in NUMBERS},
    "rank0": np.array(0.25),
    "rank5": RNG.standard_normal((2, 1, 3, 1, 2)).astype(np.float32),
    "transposed": RNG.standard_normal((5, 7)).T,
    "special": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]),
    "large": RNG.standard_normal(300_000),
    "a/b:0, \u00fc": np.arange(3),
}


class NarrowFloats(Scenario):
    """Tensors that NumPy has no type for: their bits, under the type's name."""

    def to_dict(self, blob: Path) -> dict[str, Any]:
        spec = super().to_dict(blob)
        for action in spec["actions"]:
            if action["do"] == "save":
                action["dtype"] = action["name"]
        return spec


def spec_of(folder: Path, **options: Any) -> HookSpec:  # noqa: ANN401
    return HookSpec(str(folder / "run"), save_all=True, schedules=EVERY_STEP, **options)


def exported(folder: Path, *options: object) -> dict[str, Array]:
    file = folder / "out.npz"
    smdebug("export", folder / "run", "--npz", file, "--force", *options)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def assert_same_bits(got: Array, expected: Array) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


def test_every_type_and_shape_comes_back_bit_by_bit(driver: Driver, tmp_path: Path) -> None:
    actions: list[Action] = [BeginStep(), *(Save(n, value) for n, value in TENSORS.items())]
    driver.play(Scenario([spec_of(tmp_path)], actions), tmp_path)
    arrays = exported(tmp_path)
    assert set(arrays) == {f"{name}/GLOBAL/0" for name in TENSORS}
    for name, value in TENSORS.items():
        assert_same_bits(arrays[f"{name}/GLOBAL/0"], np.array(value, order="C"))


def test_what_numpy_lacks_becomes_float32(driver: Driver, tmp_path: Path) -> None:
    bfloat16 = np.array([0x3F80, 0xC000, 0x7F80, 0x0001, 0x3DCC], np.uint16)
    e5m2 = np.array([0x3C, 0xC0, 0x7C, 0x01, 0x39], np.uint8)
    e4m3 = np.array([0x38, 0xC0, 0x7E, 0x01, 0x39], np.uint8)
    saves = [Save("bfloat16", bfloat16), Save("float8_e5m2", e5m2), Save("float8_e4m3fn", e4m3)]
    driver.play(NarrowFloats([spec_of(tmp_path)], [BeginStep(), *saves]), tmp_path)
    arrays = exported(tmp_path)
    expected = {
        "bfloat16": (bfloat16.astype(np.uint32) << 16).view(np.float32),
        "float8_e5m2": (e5m2.astype(np.uint16) << 8).view(np.float16).astype(np.float32),
        "float8_e4m3fn": np.array([1, -2, 448, 2.0**-9, 1.125], np.float32),
    }
    for name, value in expected.items():
        assert_same_bits(arrays[f"{name}/GLOBAL/0"], value)


def test_strings_are_unicode(driver: Driver, tmp_path: Path) -> None:
    words = ["", "a", "gr\u00fc\u00df", "\U0001f600\u20ac"]
    save = Save("words", np.array(words, dtype=object))
    driver.play(Scenario([spec_of(tmp_path)], [BeginStep(), save]), tmp_path)
    got = exported(tmp_path)["words/GLOBAL/0"]
    assert got.dtype.kind == "U"
    assert got.tolist() == words


def test_names_tell_mode_step_and_worker(driver: Driver, tmp_path: Path) -> None:
    hooks = [spec_of(tmp_path, include_workers="all", rank=rank, workers=2) for rank in (0, 1)]
    actions: list[Action] = []
    for rank in (0, 1):
        actions += [SetMode("TRAIN", rank), BeginStep(hook=rank)]
        actions.append(Save("w", np.array([rank]), hook=rank))
        actions += [SetMode("EVAL", rank), BeginStep(hook=rank)]
        actions.append(Save("w", np.array([10 + rank]), hook=rank))
    driver.play(Scenario(hooks, actions), tmp_path)
    got = {name: value.tolist() for name, value in exported(tmp_path).items()}
    assert got == {
        "w/TRAIN/0/worker_0": [0],
        "w/TRAIN/0/worker_1": [1],
        "w/EVAL/0/worker_0": [10],
        "w/EVAL/0/worker_1": [11],
    }
    assert list(exported(tmp_path, "--worker", "worker_1", "--mode", "eval")) == ["w/EVAL/0"]


def test_reductions_are_those_of_numpy(driver: Driver, tmp_path: Path) -> None:
    value = RNG.standard_normal((30, 40))
    driver.play(Scenario([spec_of(tmp_path)], [BeginStep(), Save("w", value)]), tmp_path)
    arrays = exported(tmp_path, "--reduction", "mean,abs_max,l2")
    assert set(arrays) == {f"w:{name}/GLOBAL/0" for name in ("mean", "abs_max", "l2")}
    assert arrays["w:mean/GLOBAL/0"].shape == ()
    np.testing.assert_allclose(arrays["w:mean/GLOBAL/0"], value.mean())
    np.testing.assert_allclose(arrays["w:abs_max/GLOBAL/0"], np.abs(value).max())
    np.testing.assert_allclose(arrays["w:l2/GLOBAL/0"], np.linalg.norm(value))


def test_more_files_than_a_plain_zip_can_count(driver: Driver, tmp_path: Path) -> None:
    count = 66_000
    actions: list[Action] = []
    for step in range(count):
        actions += [BeginStep(), SaveScalar("loss", step / 7)]
    driver.play(Scenario([HookSpec(str(tmp_path / "run"))], actions), tmp_path)
    file = tmp_path / "out.npz"
    smdebug("export", tmp_path / "run", "--npz", file)
    with zipfile.ZipFile(file) as archive:
        assert len(archive.namelist()) == count
        assert archive.testzip() is None
    with np.load(file) as arrays:
        for step in (0, 1, 65_534, 65_535, 65_536, count - 1):
            np.testing.assert_array_equal(arrays[f"scalar/loss/GLOBAL/{step}"], [step / 7])


def test_csv_reads_back_equal(driver: Driver, tmp_path: Path) -> None:
    values = [0.1, 1 / 3, 5e-324, -1.7976931348623157e308, math.inf, math.nan]
    actions: list[Action] = []
    for value in values:
        actions += [BeginStep(), SaveScalar('odd, "name"', value)]
    driver.play(Scenario([spec_of(tmp_path)], actions), tmp_path)
    text = smdebug("export", tmp_path / "run", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["step"]) for row in rows] == list(range(len(values)))
    assert {row["tensor"] for row in rows} == {'scalar/odd, "name"'}
    np.testing.assert_array_equal([float(row["value"]) for row in rows], values)


def test_show_agrees_with_numpy(driver: Driver, tmp_path: Path) -> None:
    value = RNG.standard_normal((50, 20)).astype(np.float32)
    driver.play(Scenario([spec_of(tmp_path)], [BeginStep(), Save("w", value)]), tmp_path)
    shown = smdebug_json("show", tmp_path / "run", "w", "--values", "all")
    np.testing.assert_array_equal(np.array(shown["values"], np.float32), value)
    exact = value.astype(np.float64)
    expected = {
        "min": exact.min(),
        "max": exact.max(),
        "mean": exact.mean(),
        "std": exact.std(),
        "l2": np.linalg.norm(exact),
    }
    for name, number in expected.items():
        assert shown["statistics"][name] == pytest.approx(number, rel=1e-12)
    counts, edges = np.histogram(exact, bins=16)
    assert [bar["count"] for bar in shown["histogram"]] == counts.tolist()
    np.testing.assert_allclose([bar["low"] for bar in shown["histogram"]], edges[:-1], atol=1e-12)
