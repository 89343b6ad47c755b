"""How much each feature has to do with a model's splits."""

from __future__ import annotations

import ctypes
from typing import Any

from smdebug import _core

IMPORTANCE_TYPES = tuple(_core.xgboost_importance_types())


class FeatureImportance:
    """Saves the feature importance that XGBoost itself computes."""

    def __init__(self) -> None:
        from xgboost import core

        self._check = core._check_call
        score = ctypes.cast(core._LIB.XGBoosterFeatureScore, ctypes.c_void_p).value
        assert score is not None
        self._importance = _core.XgboostImportance(score)

    def save(self, core: _core.Hook, booster: Any) -> None:
        """Saves that of `booster`, which has trees. Raises XGBoostError if XGBoost refuses."""
        if not core.save_importance(self._importance, booster.handle.value):
            self._check(-1)
