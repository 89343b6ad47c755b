"""Which process of a job this is."""

from __future__ import annotations

from dataclasses import dataclass

from smdebug.core.config_constants import DEFAULT_WORKER_NAME


@dataclass(frozen=True)
class Worker:
    """A process of a job; `count` is how many there are."""

    name: str = DEFAULT_WORKER_NAME
    count: int = 1
    is_chief: bool = True

    @staticmethod
    def of_rank(rank: int, count: int) -> Worker:
        """The process of that rank; rank 0 is the chief."""
        return Worker(f"worker_{rank}", count, rank == 0)
