"""What a hook takes as train_data and validation_data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smdebug.xgboost as smd
import xgboost as xgb
from smdebug.exceptions import SMDebugError
from support.xgboost_hooks import FEATURES, MakeHook, ReadRun, matrix, table, train


def as_libsvm(features: Any, labels: Any) -> str:
    rows = [
        " ".join(f"{column}:{value!r}" for column, value in enumerate(row))
        for row in features.tolist()
    ]
    return "".join(f"{label} {row}\n" for label, row in zip(labels.tolist(), rows))


def as_csv(features: Any, labels: Any, mark: str = ",") -> str:
    table = np.column_stack([labels, features]).tolist()
    return "".join(mark.join(map(repr, row)) + "\n" for row in table)


def given(kind: str, folder: Path) -> Any:
    features, labels = table(40, seed=5)
    if kind == "DMatrix":
        return matrix(40, seed=5)
    if kind == "QuantileDMatrix":
        names = {"feature_names": FEATURES}
        return xgb.QuantileDMatrix(features, label=labels, ref=matrix(), **names)
    if kind == "array":
        return features, labels
    if kind == "lists":
        return features.tolist(), labels.tolist()
    if kind == "sparse":
        return pytest.importorskip("scipy.sparse").csr_matrix(features), labels
    if kind == "pandas":
        frame = pytest.importorskip("pandas").DataFrame(features, columns=FEATURES)
        return frame, labels
    content, mark = kind.split("|")
    path = folder / "data"
    path.write_text(as_csv(features, labels, mark) if mark else as_libsvm(features, labels))
    return str(path), content


KINDS = [
    *("DMatrix", "QuantileDMatrix", "array", "lists", "sparse", "pandas"),
    *("csv|,", "text/csv|;", "CSV|\t", "libsvm|", "text/libsvm|", "text/x-libsvm|"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str, tmp_path: Path, make_hook: MakeHook, read_run: ReadRun) -> None:
    data = given(kind, tmp_path)
    hook = make_hook(
        include_collections=["predictions", "labels", "full_shap"],
        train_data=data,
        validation_data=data,
    )
    booster = train(hook, rounds=2)
    trial = read_run()
    same = matrix(40, seed=5)
    assert np.array_equal(trial.tensor("predictions").value(1), booster.predict(same))
    assert np.array_equal(trial.tensor("labels").value(1), same.get_label())
    shap = booster.predict(same, pred_contribs=True)
    assert np.allclose(trial.tensor("full_shap/phi").value(1), shap, atol=1e-6)


def test_may_be_assigned_later(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook(include_collections=["predictions", "average_shap"])
    features, labels = table(30)
    hook.train_data = features
    hook.validation_data = (features, labels)
    assert isinstance(hook.train_data, xgb.DMatrix)
    train(hook)
    assert {"predictions", "average_shap/fa"} <= set(read_run().tensor_names())
    with pytest.raises(SMDebugError, match="train_data"):
        hook.train_data = "path"


def test_values_that_are_missing_in_files(tmp_path: Path, make_hook: MakeHook) -> None:
    path = tmp_path / "data"
    path.write_text("1,0.5,\n0,,2\n")
    hook = make_hook(train_data=(str(path), "csv"))
    assert hook.train_data.num_nonmissing() == 2
    assert hook.train_data.get_label().tolist() == [1, 0]
    path.write_text("1:0.5 0:1 3:2 # text\n\n0:2 qid:1 1:1\n")
    hook.train_data = (str(path), None)
    assert (hook.train_data.num_row(), hook.train_data.num_col()) == (2, 4)
    assert hook.train_data.num_nonmissing() == 3
    assert hook.train_data.get_weight().tolist() == [0.5, 2]


WRONG: dict[str, tuple[Any, str]] = {
    "text": ("path", "no content type; allowed: an xgboost.DMatrix"),
    "number": (5, "is a int; allowed: an xgboost.DMatrix"),
    "three": ((1, 2, 3), "tuple of 3; allowed"),
    "kind": (("{file}", "parquet"), "'parquet'; allowed: csv, text/csv, libsvm"),
    "nothing": (("/not/there", "csv"), "no local file '/not/there'"),
    "folder": (("{folder}", "csv"), "no local file"),
    "csv": (("{file}", "csv"), "is not csv"),
    "libsvm": (("{file}", "libsvm"), "is not libsvm"),
    "shape": (np.zeros((2, 2, 2)), "cannot be used"),
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("what", ["train_data", "validation_data"])
def test_what_is_wrong_is_refused_with_what_is_allowed(
    what: str, kind: str, tmp_path: Path, run_dir: Path
) -> None:
    data, text = WRONG[kind]
    (tmp_path / "file").write_text("words, not numbers\n")
    if isinstance(data, tuple) and isinstance(data[0], str):
        data = (data[0].format(file=tmp_path / "file", folder=tmp_path), data[1])
    with pytest.raises(SMDebugError, match=rf"{what}.*{text}"):
        smd.Hook(str(run_dir), **{what: data})
