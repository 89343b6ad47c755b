"""The collections of a hook or of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from smdebug import _core
from smdebug._internal.passed_on import passed_on
from smdebug.core.collection import Collection
from smdebug.core.utils import get_path_to_collections
from smdebug.exceptions import SMDebugError, SMDebugTypeError, SMDebugValueError

__getattr__ = passed_on(__name__)

ALLOWED_PARAMS = ["collections", "_meta"]


class CollectionManager:
    """Collections by name, and the number of workers that save them."""

    def __init__(
        self, collections: dict[str, Collection] | None = None, create_default: bool = False
    ) -> None:
        del create_default  # Each framework's hook creates its own.
        self.collections: dict[str, Collection] = {} if collections is None else collections
        self._meta: dict[str, Any] = {"num_workers": 1}

    def create_collection(self, name: str, cls: type[Collection] = Collection) -> Collection:
        """The collection of that name, new and empty if there was none."""
        return self.collections.setdefault(name, cls(name))

    def add(self, arg: str | Collection) -> None:
        """Adds a collection, or an empty one of that name."""
        if isinstance(arg, str):
            self.create_collection(arg)
        elif isinstance(arg, Collection):
            self.collections[arg.name] = arg
        else:
            raise SMDebugTypeError(f"collection: '{arg}' is not a Collection or a name")

    def add_built_in(self, framework: _core.Framework, cls: type[Collection] = Collection) -> None:
        """Adds the collections that a framework's hook starts with."""
        for text in _core.built_in_collections(framework):
            self.add(cls.from_json(text))

    def get(self, name: str, create: bool = True) -> Collection:
        """The collection of that name; SMDebugError if there is none and `create` is off."""
        if name not in self.collections:
            if not create:
                raise SMDebugError(f"Collection {name} has not been created")
            self.create_collection(name)
        return self.collections[name]

    def get_collections(self) -> dict[str, Collection]:
        """All collections by name."""
        return self.collections

    def set_num_workers(self, num_workers: int) -> None:
        """Sets how many workers save."""
        self.update_meta({"num_workers": num_workers})

    def get_num_workers(self) -> int:
        """How many workers save."""
        return int(self._meta.get("num_workers", 1))

    def update_meta(self, meta: dict[str, Any]) -> None:
        """Adds to what the file says about the job."""
        self._meta.update(meta)

    def to_json_dict(self) -> dict[str, Any]:
        """What a collections file holds."""
        return {
            "collections": {name: c.to_json_dict() for name, c in self.collections.items()},
            "_meta": self._meta,
        }

    def export(self, out_dir: str, filename: str) -> None:
        """Writes the collections file `filename` of the run in `out_dir`."""
        path = Path(get_path_to_collections(out_dir), filename)
        path.parent.mkdir(parents=True, exist_ok=True)
        pending = path.with_name(path.name + ".tmp")
        pending.write_text(json.dumps(self.to_json_dict()), encoding="utf-8")
        pending.replace(path)

    @classmethod
    def load(
        cls, filename: str, collection_class: type[Collection] = Collection
    ) -> CollectionManager:
        """The collections in a file."""
        return cls.load_from_string(Path(filename).read_text(encoding="utf-8"), collection_class)

    @classmethod
    def load_from_string(
        cls, s: str, collection_class: type[Collection] = Collection
    ) -> CollectionManager:
        """The collections in the content of a file; SMDebugValueError for keys it may not have."""
        content = json.loads(s)
        unknown = set(content) - set(ALLOWED_PARAMS)
        if unknown:
            raise SMDebugValueError(
                f"{', '.join(sorted(unknown))}: not allowed in a collections file; expected "
                f"{' and '.join(ALLOWED_PARAMS)}"
            )
        manager = CollectionManager(
            {
                name: collection_class.from_dict({"name": name, **collection})
                for name, collection in content.get("collections", {}).items()
            }
        )
        manager.update_meta(content.get("_meta", {}))
        return manager

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CollectionManager):
            return NotImplemented
        return self.collections == other.collections

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<class CollectionManager: collection_names={list(self.collections)}>"
