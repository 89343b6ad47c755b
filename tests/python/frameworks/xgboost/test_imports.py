"""What importing smdebug.xgboost needs and gives."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import smdebug.xgboost as smd
from smdebug.xgboost import collection, hook, singleton_utils
from support.xgboost_hooks import MakeHook, train


def run(script: str) -> str:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_no_other_framework_is_loaded() -> None:
    names = ("torch", "tensorflow", "mxnet", "pandas", "boto3", "matplotlib", "dask")
    script = f"""
import sys, xgboost
alone = set(sys.modules)  # XGBoost itself loads pandas where it is.
import smdebug.xgboost
print([name for name in {names} if name in set(sys.modules) - alone])
"""
    assert run(script) == "[]\n"


def test_a_hook_without_xgboost_tells_what_is_missing() -> None:
    script = """
import sys
sys.modules["xgboost"] = None
import smdebug.xgboost as smd
from smdebug.exceptions import SMDebugError
try:
    smd.Hook("unused")
except SMDebugError as error:
    print(error)
"""
    assert "needs XGBoost 1.7 or later" in run(script)


def test_names_of_smdebug_1_0() -> None:
    for name in ("Hook", "SaveConfig", "SaveConfigMode", "Collection", "CollectionKeys", "modes"):
        assert hasattr(smd, name), name
    for name in ("create_trial", "get_hook", "set_hook", "del_hook"):
        assert callable(getattr(smd, name)), name
    assert hook.Hook is smd.Hook
    assert singleton_utils.get_hook is smd.get_hook
    manager = collection.CollectionManager()
    assert set(manager.get_collections()) >= {"metrics", "losses", "full_shap", "trees", "labels"}


def test_get_hook(make_hook: MakeHook) -> None:
    assert smd.get_hook() is None
    made = make_hook()
    assert smd.get_hook() is made


def test_copies_do_nothing(make_hook: MakeHook) -> None:
    made = make_hook()
    train(copy.deepcopy(made))
    train(copy.copy(made))
    assert made.step == -1
    train(made, rounds=2)
    train(pickle.loads(pickle.dumps(made)))
    assert made.step == 1
    made.close()
