"""Runs written with smdebug 1.0's own writers, file by file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Union

from smdebug.core.access_layer import training_has_ended
from smdebug.core.collection import Collection
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.modes import ModeKeys
from smdebug.core.reductions import get_reduction_tensor_name
from smdebug.core.writer import FileWriter
from support.config import CollectionSpec
from support.model import Stamp
from support.scenario import Array
from support.truth import Truth, decoded_worker


@dataclass(frozen=True)
class WriteValue:
    name: str
    value: Array


@dataclass(frozen=True)
class WriteReduction:
    tensor: str
    reduction: str  # "mean", "abs_l2", ...
    value: Array


@dataclass(frozen=True)
class WriteShape:
    name: str
    shape: tuple[int, ...]
    original_name: str | None = None


Write = Union[WriteValue, WriteReduction, WriteShape]


@dataclass
class StepFile:
    """What one worker writes at one step, in this order."""

    stamp: Stamp
    worker: str  # As in file names.
    writes: list[Write]
    write_checksum: bool = False


@dataclass
class ReferenceRun:
    workers: list[str]  # As in file names; each has a collections file.
    files: list[StepFile]
    collections: dict[str, list[CollectionSpec]] = field(default_factory=dict)
    ended: bool = True

    def truth(self, folder: Path) -> Truth:
        """What `folder` holds once the run is written there."""
        truth = Truth()
        truth.add_collections(folder)
        for file in self.files:
            step, worker = file.stamp.step, decoded_worker(file.worker)
            for write in file.writes:
                if isinstance(write, WriteShape):
                    truth.shapes[write.name, step, worker] = write.shape
                else:
                    truth.add_record(record_name(write), step, worker, write.value)
        return truth


def record_name(write: WriteValue | WriteReduction) -> str:
    if isinstance(write, WriteValue):
        return write.name
    is_abs = write.reduction.startswith("abs_")
    op = write.reduction[4:] if is_abs else write.reduction
    name: str = get_reduction_tensor_name(write.tensor, op, is_abs, remove_colon_index=False)
    return name


def write_run(run: ReferenceRun, folder: Path) -> None:
    """Writes `run` into `folder`, in the order in which jobs of 1.0 do."""
    folder.mkdir(parents=True, exist_ok=True)
    for worker in run.workers:
        manager = CollectionManager()
        for spec in run.collections.get(worker, []):
            manager.add(Collection.from_dict(spec.to_dict()))
        manager.set_num_workers(len(run.workers))
        manager.export(str(folder), f"{worker}_collections.json")
    for file in run.files:
        write_file(file, folder)
    if run.ended:
        training_has_ended(str(folder))


def write_file(file: StepFile, folder: Path) -> None:
    mode, mode_step = ModeKeys[file.stamp.mode], file.stamp.mode_step
    writer = FileWriter(
        str(folder), file.worker, file.stamp.step, write_checksum=file.write_checksum
    )
    for write in file.writes:
        if isinstance(write, WriteShape):
            # Its writer's thread must not come in between.
            writer.flush()
            writer.write_shape(write.name, write.shape, mode, mode_step, write.original_name)
        else:
            name = record_name(write)
            writer.write_tensor(
                write.value, name, mode=mode, mode_step=mode_step, timestamp=1577836800.25
            )
    writer.close()
