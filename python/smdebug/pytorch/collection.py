"""Collections that can name the modules whose tensors they hold."""

from __future__ import annotations

from typing import Any

import torch

from smdebug import _core
from smdebug._internal.checks import flag, refuse_type
from smdebug._internal.passed_on import passed_on
from smdebug.core.collection import Collection as BaseCollection
from smdebug.core.collection_manager import CollectionManager as BaseCollectionManager

__getattr__ = passed_on(__name__)


class Collection(BaseCollection):
    """A collection of a PyTorch hook."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._modules: dict[torch.nn.Module, tuple[bool, bool]] = {}

    def add_module_tensors(
        self, module: torch.nn.Module, inputs: bool = False, outputs: bool = True
    ) -> None:
        """Adds the inputs and outputs of a module, by the name that it has in what is watched."""
        if not isinstance(module, torch.nn.Module):
            refuse_type("module", module, "a torch.nn.Module")
        self._modules[module] = (flag("inputs", inputs), flag("outputs", outputs))

    @property
    def modules(self) -> dict[torch.nn.Module, tuple[bool, bool]]:
        """The modules that were added, with whether inputs and outputs are meant."""
        return self._modules


class CollectionManager(BaseCollectionManager):
    """The collections of a PyTorch hook."""

    def __init__(self, create_default: bool = True) -> None:
        super().__init__()
        if create_default:
            self.add_built_in(_core.Framework.PYTORCH, Collection)

    def create_collection(  # type: ignore[override]
        self, name: str, cls: type[Collection] = Collection
    ) -> BaseCollection:
        return super().create_collection(name, cls)
