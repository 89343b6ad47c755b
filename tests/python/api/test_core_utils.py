"""Helpers that scripts import from smdebug.core and smdebug.analysis."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import numpy as np
import pytest
from smdebug import _core
from smdebug.analysis.utils import parse_bool, parse_list_from_str
from smdebug.core import access_layer, reductions, utils
from smdebug.core.hook_utils import get_tensorboard_dir, verify_and_get_out_dir
from smdebug.core.sagemaker_utils import is_sagemaker_job
from smdebug.exceptions import (
    IndexReaderException,
    SMDebugRuntimeError,
    SMDebugTypeError,
    SMDebugValueError,
)


def test_lists_and_dicts() -> None:
    assert utils.flatten([1, [2, (3, [4])], "ab"]) == [1, 2, (3, [4]), "ab"]
    assert utils.split("a, b ,c") == ["a", "b", "c"]
    assert utils.merge_two_dicts({"a": 1}, {"a": 2, "b": 3}) == {"a": 2, "b": 3}
    assert utils.load_json_as_dict('{"a": 1}') == {"a": 1}
    assert utils.load_json_as_dict(None) is None
    assert utils.index([1, 3], 3) == 1
    with pytest.raises(SMDebugValueError):
        utils.index([1, 3], 2)
    assert utils.match_inc("abc", ["x", "b"])
    assert utils.match_inc("abc", "b")
    assert not utils.match_inc("abc", [])


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [((1, 3), [1, 2], [0, 3]), ((None, 3), [0], [3]), ((1, None), [9], [0]), (None, [0], [])],
)
def test_step_in_range(
    bounds: tuple[int | None, int | None] | None, inside: list[int], outside: list[int]
) -> None:
    assert all(utils.step_in_range(bounds, step) for step in inside)
    assert not any(utils.step_in_range(bounds, step) for step in outside)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("s3://bucket/key/x", (True, "bucket", "key/x")),
        ("s3://bucket", (True, "bucket", "")),
        ("s3://bucket/", (True, "bucket", "")),
        ("/a/b", (False, None, None)),
        ("s3a://bucket/key", (False, None, None)),
    ],
)
def test_is_s3(path: str, parts: tuple[bool, str | None, str | None]) -> None:
    assert utils.is_s3(path) == parts


def test_paths_of_a_run() -> None:
    assert utils.get_path_to_collections("/run") == "/run/collections/000000000/"
    assert utils.get_path_to_events_directory("/run") == "/run/events/"
    assert utils.get_relative_event_file_path("/run/events/01/x.tfevents") == "events/01/x.tfevents"


@pytest.mark.parametrize(
    ("path", "worker"),
    [
        ("/run/index/000000000/000000000003_worker_0.json", "worker_0"),
        ("/run/events/000000000003/000000000003_algo-1.tfevents", "algo-1"),
        ("/a__b/000000000003_worker_0.json", "worker_0"),
        ("/run/000000000003__job-worker_replica-0.json", "/job:worker/replica:0"),
    ],
)
def test_worker_in_the_name_of_a_file(path: str, worker: str) -> None:
    assert utils.parse_worker_name_from_file(path) == worker


@pytest.mark.parametrize("name", ["worker_0.json", "03_worker_0.json.tmp", "03_worker_0.txt"])
def test_a_name_without_worker_is_refused(name: str) -> None:
    with pytest.raises(IndexReaderException):
        utils.parse_worker_name_from_file(name)


def test_worker_in_the_name_of_a_collections_file() -> None:
    folder = "/run/collections/000000000/"
    worker = utils.get_worker_name_from_collection_file
    assert worker(folder + "worker_10_collections.json") == "worker_10"
    assert worker(folder + "_job-worker_replica-0_collections.json") == "/job:worker/replica:0"


def test_devices_of_tensorflow() -> None:
    device = "/job:worker/replica:0/task:1/device:GPU:0"
    assert utils.serialize_tf_device(device) == "_job-worker_replica-0_task-1_device-GPU-0"
    assert utils.deserialize_tf_device(utils.serialize_tf_device(device)) == device


def test_files_and_folders(tmp_path: Path) -> None:
    utils.ensure_dir(str(tmp_path / "a/b/file"))
    utils.ensure_dir(str(tmp_path / "c"), is_file=False)
    (tmp_path / "a/worker_0_collections.json").touch()
    (tmp_path / "a/b/x.txt").touch()
    assert sorted(utils.get_immediate_subdirectories(str(tmp_path))) == ["a", "c"]
    assert sorted(utils.list_files_in_directory(str(tmp_path))) == [
        str(tmp_path / "a/b/x.txt"),
        str(tmp_path / "a/worker_0_collections.json"),
    ]
    listed = utils.list_collection_files_in_directory(str(tmp_path))
    assert listed == [str(tmp_path / "a/worker_0_collections.json")]
    for _ in range(2):
        utils.remove_file_if_exists(str(tmp_path / "a/b/x.txt"))
    assert utils.list_files_in_directory(str(tmp_path), r".*\.txt") == []


def test_of_many_processes_one_is_the_first(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        firsts = pool.map(utils.is_first_process, [str(tmp_path / "run")] * 20)
    assert firsts.count(True) == 1
    utils.remove_claim_file(str(tmp_path / "run"))
    assert utils.is_first_process(str(tmp_path / "run"))
    assert utils.is_first_process(str(tmp_path / "other/file"), is_dir=False)
    assert not utils.is_first_process(str(tmp_path / "other/file"), is_dir=False)
    assert utils.is_first_process("s3://bucket/key")


def test_arrays() -> None:
    array = np.ones((2, 3), np.float32)
    assert utils.make_numpy_array(array) is array
    assert utils.make_numpy_array(2.5).tolist() == [2.5]
    assert utils.make_numpy_array("abc").tolist() == ["abc"]
    assert utils.make_numpy_array([1, 2]).tolist() == [1, 2]
    with pytest.raises(SMDebugTypeError):
        utils.make_numpy_array(None)
    assert utils.size_and_shape(array) == (24, (2, 3))
    assert utils.size_and_shape("abc") == (3, [3])
    assert utils.validate_custom_tensor_value([array, [1]], utils.make_numpy_array)
    assert not utils.validate_custom_tensor_value([array, [None]], utils.make_numpy_array)
    assert utils.get_tb_worker().startswith(f"{os.getpid()}_")


def test_names_of_reductions() -> None:
    name = reductions.get_reduction_tensor_name("a/b:0", "l1", True)
    assert name == "smdebug/reductions/abs_l1/a/b"
    assert reductions.reverse_reduction_tensor_name(name) == ("a/b", "l1", True)
    assert reductions.get_reduction_tensor_name("a:0", "min", False, False).endswith("/min/a:0")
    with pytest.raises(SMDebugValueError):
        reductions.reverse_reduction_tensor_name("a/b")


def test_reductions_of_arrays() -> None:
    values = np.array([[1.0, -2.0], [3.0, 4.0]])
    expected = {"min": -2, "max": 4, "mean": 1.5, "median": 2, "variance": 5.25, "sum": 6, "l1": 10}
    for name, value in expected.items():
        assert reductions.get_numpy_reduction(name, values) == value
    names = {name for name, _, _ in _core.reduction_types()}
    assert names > set(expected)
    for name in names:
        assert np.isfinite(reductions.get_numpy_reduction(name, values)), name
    assert reductions.get_numpy_reduction("l2", values) == pytest.approx(np.sqrt(30))
    assert reductions.get_numpy_reduction("min", values, abs=True) == 1
    with pytest.raises(SMDebugValueError, match="'mode' is not allowed"):
        reductions.get_numpy_reduction("mode", values)


def test_the_end_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = str(tmp_path / "run")
    assert not access_layer.check_dir_exists(run)
    assert verify_and_get_out_dir(run) == run
    access_layer.training_has_ended(run)
    assert access_layer.has_training_ended(run)
    with pytest.raises(SMDebugRuntimeError, match=run):
        verify_and_get_out_dir(run)
    with pytest.raises(RuntimeError, match="out_dir is a required argument"):
        verify_and_get_out_dir(None)
    monkeypatch.setenv("TRAINING_JOB_NAME", "job")
    assert is_sagemaker_job()
    access_layer.training_has_ended(str(tmp_path / "of_sagemaker"))
    assert not access_layer.has_training_ended(str(tmp_path / "of_sagemaker"))


def test_a_rules_signal_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passed = access_layer.is_rule_signalled_gracetime_passed
    assert not passed(str(tmp_path))
    monkeypatch.setenv("SAGEMAKER_ENV_RULE_STOP_SIGNAL_FILE", "stop")
    assert not passed(str(tmp_path))
    (tmp_path / "stop").write_text(str(int(time.time()) - 30))
    assert not passed(str(tmp_path))
    monkeypatch.setenv("rule_stop_grace_time_secs", "20")
    assert passed(str(tmp_path))


def test_where_tensorboard_files_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert get_tensorboard_dir(False, None, "/run") is None
    assert get_tensorboard_dir(True, None, "/run") == "/run/tensorboard"
    assert get_tensorboard_dir(False, "~/tb", "/run") == "/home/me/tb"


def test_texts_of_rule_parameters() -> None:
    assert parse_list_from_str("a,b") == ["a", "b"]
    assert parse_list_from_str("a;b", delimiter=";") == ["a", "b"]
    assert parse_list_from_str(["a"]) == ["a"]
    assert parse_list_from_str(None) == parse_list_from_str("") == []
    assert [parse_bool(text, False) for text in (True, 1, "True", "true")] == [True] * 4
    assert [parse_bool(text, True) for text in (False, 0, "False", "false")] == [False] * 4
    assert parse_bool(None, True)
    for wrong in ("TRUE", "", "yes", 2):
        with pytest.raises(ValueError, match="expected True"):
            parse_bool(wrong, True)
