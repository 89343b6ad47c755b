"""The adapter for XGBoost's C API beside the hook for Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smdebug.xgboost as smd
import xgboost
from smdebug.trials import Trial

ROUNDS = 12
EVERYTHING: dict[str, Any] = {"HookParameters": {"save_all": "true", "save_interval": "1"}}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "everything": EVERYTHING,
    "defaults": {},
    "collections": {
        "HookParameters": {"save_interval": "4"},
        "CollectionConfigurations": [
            {"CollectionName": "feature_importance"},
            {"CollectionName": "full_shap", "CollectionParameters": {"save_interval": "6"}},
            {"CollectionName": "average_shap"},
            {"CollectionName": "trees"},
        ],
    },
}
PARAMETERS: dict[str, dict[str, str]] = {
    "regression": {"max_depth": "3"},
    "classes": {"objective": "multi:softprob", "num_class": "3", "num_parallel_tree": "2"},
    "linear": {"booster": "gblinear"},
}


def run(command: list[Path | str], env: dict[str, str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def make_table(path: Path) -> np.ndarray:
    random = np.random.default_rng(1)
    features = random.normal(size=(300, 6)).astype(np.float32)
    labels = (features[:, 0] > 0.5).astype(np.float32) + (features[:, 1] > 0)
    table = np.column_stack([labels, features]).astype(np.float32)
    np.savetxt(path, table, delimiter=",", fmt="%.9g")
    return table


def train(out_dir: Path, config: Path, table: np.ndarray, parameters: dict[str, str]) -> None:
    """What tests/xgboost_cpp/project/twin.cc does."""
    split = len(table) - len(table) // 5
    names = [f"radius{i}" for i in range(table.shape[1] - 1)]
    train, validation = (
        xgboost.DMatrix(rows[:, 1:], rows[:, 0], feature_names=names)
        for rows in (table[:split], table[split:])
    )
    hook = smd.Hook.create_from_json_file(str(config))
    hook.hyperparameters = parameters
    hook.train_data, hook.validation_data = train, validation
    xgboost.train(
        {**parameters, "nthread": "1"},
        train,
        ROUNDS,
        evals=[(train, "train"), (validation, "validation")],
        verbose_eval=False,
        callbacks=[hook],
    )
    hook.close()
    assert hook.out_dir == str(out_dir)


def read(folder: Path) -> Trial:
    trial = smd.create_trial(str(folder))
    trial.training_end_delay_refresh = 0.01
    return trial


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, "regression") for name in CONFIGURATIONS), ("everything", "classes"),
     ("everything", "linear")],
)  # fmt: skip
def test_cpp_and_python_save_the_same(
    name: str, kind: str, programs: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    parameters = PARAMETERS[kind]
    table = make_table(tmp_path / "table.csv")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**CONFIGURATIONS[name], "LocalPath": str(tmp_path / "python")}))
    train(tmp_path / "python", config, table, parameters)
    given = ",".join(f"{key}={value}" for key, value in parameters.items())
    run(
        [programs / "xgboost_twin", tmp_path / "cpp", config, tmp_path / "table.csv", given,
         str(ROUNDS)],
        environment,
    )  # fmt: skip

    cpp, python = read(tmp_path / "cpp"), read(tmp_path / "python")
    assert cpp.steps() == python.steps()
    assert cpp.tensor_names() == python.tensor_names()
    assert len(python.tensor_names()) > 0
    for collection in python.collections():
        assert cpp.tensor_names(collection=collection) == python.tensor_names(
            collection=collection
        ), collection
    assert python.steps()
    for step in python.steps():
        assert cpp.tensor_names(step=step) == python.tensor_names(step=step)
        for tensor in python.tensor_names(step=step):
            ours, theirs = cpp.tensor(tensor).value(step), python.tensor(tensor).value(step)
            assert ours.shape == theirs.shape, tensor
            if theirs.dtype.kind == "f":
                # XGBoost prints metrics with few digits to the C API.
                np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7, err_msg=tensor)
            else:
                np.testing.assert_array_equal(ours, theirs, err_msg=tensor)


def test_the_matrix_of_shap_values_is_stored_once(
    programs: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    table = make_table(tmp_path / "table.csv")
    matrix = 240 * table.shape[1] * 4
    sizes: list[int] = []
    for collections in ([], [{"CollectionName": "full_shap"}]):
        config = tmp_path / "config.json"
        run_dir = tmp_path / f"run{len(sizes)}"
        config.write_text(json.dumps({"CollectionConfigurations": collections}))
        run([programs / "xgboost_twin", run_dir, config, tmp_path / "table.csv", "eta=0.1", "1"],
            environment)  # fmt: skip
        sizes.append(sum(file.stat().st_size for file in (run_dir / "events").rglob("*.tfevents")))
    assert matrix < sizes[1] - sizes[0] < 1.2 * matrix


def test_the_example_trains_and_is_judged(
    programs: Path, programs_of_system: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    for number, folder in enumerate((programs, programs_of_system)):
        out_dir = tmp_path / f"run{number}"
        told = run([folder / "xgboost_regression", out_dir], environment)
        assert "LossNotDecreasing: NoIssuesFound" in told
        trial = read(out_dir)
        losses = trial.tensor("validation-rmse").values()
        assert losses[45] < losses[0] / 2
        assert trial.tensor("feature_importance/gain/f0").value(45) > 0.3
