"""smdebug.rulesconfig by its old name: the same modules, classes and functions."""

import sys

import smdebug.rulesconfig

_HERE = __name__
_THERE = smdebug.rulesconfig.__name__

for _name in list(sys.modules):
    if _name == _THERE or _name.startswith(_THERE + "."):
        sys.modules[_HERE + _name[len(_THERE) :]] = sys.modules[_name]
