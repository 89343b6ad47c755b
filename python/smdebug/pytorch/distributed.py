"""Which process of a job this is, by what the job was started with."""

from __future__ import annotations

import sys

import torch.distributed

from smdebug._hook.worker import Worker


def find_worker() -> Worker:
    """The rank in torch.distributed, else in Horovod; the only process where neither runs."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return Worker.of_rank(torch.distributed.get_rank(), torch.distributed.get_world_size())
    # Only a script that uses Horovod has imported it.
    horovod = sys.modules.get("horovod.torch")
    if horovod is not None and horovod.is_initialized():
        return Worker.of_rank(horovod.rank(), horovod.size())
    return Worker()
