"""smdebug 2: saves what a training job computes, reads it back, judges it and acts."""

from smdebug import _core
from smdebug.core.collection import Collection, CollectionKeys
from smdebug.core.modes import ModeKeys as modes
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.save_config import SaveConfig, SaveConfigMode

__version__ = _core.version()

__all__ = [
    "Collection",
    "CollectionKeys",
    "ReductionConfig",
    "SaveConfig",
    "SaveConfigMode",
    "__version__",
    "modes",
]
