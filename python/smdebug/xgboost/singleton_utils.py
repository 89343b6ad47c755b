"""The process's hook for XGBoost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdebug.core import singleton_utils
from smdebug.core.singleton_utils import del_hook, set_hook

if TYPE_CHECKING:
    from smdebug.xgboost.hook import Hook

__all__ = ["del_hook", "get_hook", "set_hook"]


def get_hook(json_config_path: str | None = None, create_if_not_exists: bool = True) -> Hook | None:
    """The hook that was made last, else one from the JSON configuration.

    None if there is no configuration, or none is to be made, and where USE_SMDEBUG says no.
    """
    from smdebug.xgboost.hook import Hook

    if not singleton_utils.is_enabled():
        return None
    return singleton_utils.get_hook(
        json_config_path=json_config_path,
        hook_class=Hook,
        create_if_not_exists=create_if_not_exists,
    )
