"""What smdebug.xgboost of smdebug 1.0 offers by name is offered here, and called as before."""

from __future__ import annotations

import sys

from support.api import check_framework

# What we do not have, and why.
MISSING = {
    # One class serves every version of XGBoost.
    "smdebug.xgboost.hook.XGBoostBaseHook",
    # Its own steps of saving a round.
    "smdebug.xgboost.hook.Hook.write_average_shap",
    "smdebug.xgboost.hook.Hook.write_feature_importances",
    "smdebug.xgboost.hook.Hook.write_full_shap",
    "smdebug.xgboost.hook.Hook.write_hyperparameters",
    "smdebug.xgboost.hook.Hook.write_labels",
    "smdebug.xgboost.hook.Hook.write_losses",
    "smdebug.xgboost.hook.Hook.write_metrics",
    "smdebug.xgboost.hook.Hook.write_predictions",
    "smdebug.xgboost.hook.Hook.write_tree_model",
}

# What we have otherwise, and why.
CHANGED = {
    # All hooks are below BaseHook; there is no CallbackHook.
    "smdebug.xgboost.hook.Hook",
}


def test_every_name_is_there_and_is_called_as_before(reference: str) -> None:
    check_framework("smdebug.xgboost", reference, sys.executable, MISSING, CHANGED)
