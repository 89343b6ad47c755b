"""smdebug for XGBoost: `import smdebug.xgboost as smd`."""

from smdebug import ReductionConfig, SaveConfig, SaveConfigMode, modes
from smdebug.core.collection import Collection, CollectionKeys
from smdebug.trials import create_trial
from smdebug.xgboost.hook import Hook
from smdebug.xgboost.singleton_utils import del_hook, get_hook, set_hook

__all__ = [
    "Collection",
    "CollectionKeys",
    "Hook",
    "ReductionConfig",
    "SaveConfig",
    "SaveConfigMode",
    "create_trial",
    "del_hook",
    "get_hook",
    "modes",
    "set_hook",
]
