"""The collections of a hook, and what the core is configured with."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, ClassVar

from smdebug import _core
from smdebug._hook.settings import HookSettings
from smdebug._internal.checks import names, refuse_type, text
from smdebug.core.collection import Collection
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.logger import get_logger
from smdebug.core.save_config import SaveConfig


class HookCollections(HookSettings):
    """A hook's settings with its collections, which may be changed until the first step."""

    _collection_class: ClassVar[type[Collection]] = Collection

    def _set_up(self) -> None:
        super()._set_up()
        self.logger = get_logger()
        self._core: _core.Hook | None = None  # Made late; see HookLife.
        self._has_begun = False
        self._take_collections([])
        _core.check_hook_config(self._incomplete_settings())

    # Settings that may also be assigned once steps have begun.
    _counts_late: ClassVar[frozenset[str]] = frozenset({"stop_on_rule"})

    def _note_assigned(self, name: str) -> None:
        if vars(self).get("_has_begun") and name not in self._counts_late:
            self.logger.warning(f"{name} was assigned after the first step; it changes nothing")

    def _take_collections(self, changed: list[str]) -> None:
        """Has the built-in collections, and those of `changed`, which are JSON."""
        self._saves_for_rules = False  # What they need is included.
        self.collection_manager = CollectionManager()
        self.collection_manager.add_built_in(self._framework, self._collection_class)
        for made in changed:
            self.collection_manager.add(self._collection_class.from_json(made))

    def get_collection(self, name: str, create: bool = True) -> Collection:
        """The collection of that name; a new one if there is none and `create` is set.

        It has a schedule of its own, at first that of the hook, so that
        `get_collection("losses").save_config.end_step = 0` works.
        """
        text("collection", name, "a name")
        if name not in self.collection_manager.collections and create:
            self.add_collection(self._collection_class(name))
        collection = self.collection_manager.get(name, create=False)
        if collection.save_config is None and not self._has_begun:
            collection.save_config = copy.deepcopy(self.save_config) or SaveConfig()
        self._take_tensor_names(collection)
        return collection

    def get_collections(self) -> dict[str, Collection]:
        """All collections by name."""
        collections = self.collection_manager.get_collections()
        for collection in collections.values():
            self._take_tensor_names(collection)
        return collections

    def add_collection(self, collection: Collection) -> None:
        """Adds a collection, or replaces the one of that name. Before the first step."""
        if not isinstance(collection, Collection):
            refuse_type("collection", collection, "a Collection")
        patterns = names("include_regex", collection.include_regex, "a regular expression")
        _core.check_patterns(collection.name, patterns)
        if self._has_begun:
            self.logger.warning(
                f"Collection {collection.name} came after the first step; it is not saved"
            )
        self.collection_manager.add(collection)

    def _take_tensor_names(self, collection: Collection) -> None:
        """Adds the names that were found to belong to the collection while saving."""
        known = self._core.collection(collection.name) if self._core is not None else None
        if known is not None:
            collection.tensor_names |= Collection.from_json(known).tensor_names

    def _included_names(self) -> list[str]:
        """Which collections are saved."""
        included = dict.fromkeys(self.include_collections)
        if self.include_regex:
            included["default"] = None
        if self.save_all:
            included["all"] = None
        return list(included)

    def has_default_hook_configuration(
        self, default_saved_collections: str | Iterable[str] | None = None
    ) -> bool:
        """Whether nothing but the framework's default collections is saved."""
        given = names("default_saved_collections", default_saved_collections)
        default = given or self._default_collections
        collections = self.collection_manager.get_collections()
        return {name for name in self._included_names() if name in collections} == set(default)

    def has_default_configuration(self) -> bool:
        """The same: there is no profiler to be configured."""
        return self.has_default_hook_configuration()

    # What the core is given.

    def _settings(self) -> dict[str, Any]:
        """What the core is configured with; the keys are those of the C++ HookConfig."""
        self._drop_what_is_no_pattern()
        return self._for_core(self._changed())

    def _incomplete_settings(self) -> dict[str, Any]:
        """The same before the first step, when collections may still be added and filled."""
        return {**self._settings(), "complete": False}

    def _usable_settings(self) -> dict[str, Any]:
        """The same for a hook that saves: what could save nothing is left out."""
        return {**self._settings(), "complete": True, **self._model()}

    def _model(self) -> dict[str, Any]:
        """(name, class) of each of the `modules`, and the other `names` of tensors.

        The core lets a pattern that takes nothing by name mean classes.
        """
        return {}

    def _changed(self) -> list[str]:
        """The collections that are not built in as they are, as JSON."""
        built_in = set(_core.built_in_collections(self._framework))
        made = (c.to_json() for c in self.collection_manager.get_collections().values())
        return [text for text in made if text not in built_in]

    def _drop_what_is_no_pattern(self) -> None:
        """Leaves out what is no string: a collection's list can be changed by anybody."""
        for collection in self.collection_manager.get_collections().values():
            for pattern in [p for p in collection.include_regex if not isinstance(p, str)]:
                collection.include_regex.remove(pattern)
                self.logger.error(
                    f"Collection {collection.name}: include_regex: {pattern!r} is not a regular "
                    "expression; it is left out"
                )

    def _settle_collections(self) -> None:
        """The first step begins: collections are what they are now."""
        self._save_what_rules_need()
        self._complete_collections()
        for _, reason, matters in _core.unusable_collections(self._settings()):
            if matters:
                self.logger.error(f"Left out: {reason}")
        if self._core is not None:
            self._core.configure(self._usable_settings())

    def _save_what_rules_need(self) -> None:
        """Includes the collections that the rules need; what the script has configured stays."""
        if self._saves_for_rules or self.dry_run or not self.rules:
            return
        self._saves_for_rules = True
        for name, made in _core.rule_needs(self._settings(), self.rules):
            self.include_collections.append(name)
            if made is not None:
                self.collection_manager.add(self._collection_class.from_json(made))

    def _complete_collections(self) -> None:
        """Gives collections the patterns that only the framework's hook knows."""
