"""The collections of an XGBoost hook."""

from __future__ import annotations

from smdebug import _core
from smdebug._internal.passed_on import passed_on
from smdebug.core.collection import Collection
from smdebug.core.collection_manager import CollectionManager as BaseCollectionManager

__getattr__ = passed_on(__name__)


class CollectionManager(BaseCollectionManager):
    """The collections of an XGBoost hook."""

    def __init__(self, create_default: bool = True) -> None:
        super().__init__()
        if create_default:
            self.add_built_in(_core.Framework.XGBOOST, Collection)
