"""The model is the same, bit by bit, with and without a hook."""

from __future__ import annotations

from typing import Any

import pytest
import xgboost as xgb
from support.xgboost_hooks import MakeHook, matrix, train

SETTINGS: dict[str, dict[str, Any]] = {
    "gbtree": {},
    "exact": {"tree_method": "exact"},
    "approx": {"tree_method": "approx"},
    "sampled": {"subsample": 0.5, "colsample_bynode": 0.5},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "gblinear": {"booster": "gblinear"},
    "classes": {"objective": "multi:softprob", "num_class": 3},
    "forest": {"num_parallel_tree": 3, "subsample": 0.5},
    "adaptive": {"objective": "reg:absoluteerror"},
}


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("same_data", [True, False])
def test_models(kind: str, same_data: bool, make_hook: MakeHook) -> None:
    settings = SETTINGS[kind]
    classes = settings.get("num_class", 2)
    bare = train(None, matrix(classes=classes), rounds=8, **settings)
    data = matrix(classes=classes)
    seen = data if same_data else matrix(50, classes=classes, seed=2)
    hook = make_hook(save_all=True, train_data=seen, validation_data=seen)
    hooked = train(hook, data, rounds=8, **settings)
    hook.close()
    assert hook.stats["steps_saved"] == 8
    assert hooked.save_raw("ubj") == bare.save_raw("ubj")
    assert hooked.attributes() == bare.attributes()


def test_early_stopping(make_hook: MakeHook) -> None:
    def trained(callbacks: list[Any]) -> xgb.Booster:
        return train(
            callbacks=callbacks,
            rounds=200,
            eta=1.5,
            eval_metric="error",
            options={"early_stopping_rounds": 3},
        )

    bare, hooked = trained([]), trained([make_hook(save_all=True)])
    assert hooked.best_iteration == bare.best_iteration
    assert hooked.save_raw() == bare.save_raw()
