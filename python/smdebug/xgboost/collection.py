"""The collections of an XGBoost hook."""

from __future__ import annotations

from smdebug import _core
from smdebug.core.collection import Collection
from smdebug.core.collection_manager import CollectionManager as BaseCollectionManager
from smdebug._internal.passed_on import passed_on

__getattr__ = passed_on(__name__)


class CollectionManager(BaseCollectionManager):
    """The collections of an XGBoost hook."""

    def __init__(self, create_default: bool = True) -> None:
        super().__init__()
        if create_default:
            for text in _core.built_in_collections(4):
                self.add(Collection.from_json(text))
