"""What there is to ask about a run, whatever it holds."""

from __future__ import annotations

from support.config import MODES
from support.driver import Document, Questions
from support.model import Stamp
from support.truth import Truth

REGEXES = (["weight"], ["^gradient/", "bias$"], ["no such name"])


def questions_of(truth: Truth, stamps: list[Stamp]) -> Questions:
    """Asks for what is there, what is beside it and what is not there at all."""
    steps = {mode: probes(stamps, mode) for mode in MODES}
    tensors = sorted(truth.tensors())
    collections = {name for file in truth.collections.values() for name in file}
    names: list[Document] = [{"regex": list(regex)} for regex in REGEXES]
    names += [{"collection": name} for name in (*sorted(collections), "no such collection")]
    names += [{"mode": mode} for mode in MODES]
    names += [{"mode": mode, "step": step} for mode in MODES for step in steps[mode]]
    return {
        "computed": True,
        "passed": [[mode, step] for mode in MODES for step in steps[mode]],
        "waits": [[mode, [step]] for mode in MODES for step in steps[mode]],
        "names": names,
        "lookups": lookups_of(truth, tensors, steps),
        "previous": [
            [tensor, mode, step, count]
            for tensor in tensors[:2]
            for mode in MODES
            for step in steps[mode][-3:]
            for count in (0, 1, 2)
        ],
    }


def probes(stamps: list[Stamp], mode: str) -> list[int]:
    """The steps of `mode`, and those beside them."""
    own = [
        s.step if mode == "GLOBAL" else s.mode_step for s in stamps if mode in ("GLOBAL", s.mode)
    ]
    return sorted({max(step + by, 0) for step in own for by in (-1, 0, 1)} | {0})


def lookups_of(truth: Truth, tensors: list[str], steps: dict[str, list[int]]) -> list[Document]:
    workers = [None, "no such worker", *sorted(truth.collections)]
    lookups: list[Document] = []
    for tensor in tensors[:2]:
        for mode in MODES:
            for number, step in enumerate(steps[mode]):
                lookups.append({"tensor": tensor, "mode": mode, "step": step})
                # Each worker is asked for now and then.
                worker = workers[number % len(workers)]
                if worker is not None:
                    lookups.append({**lookups[-1], "worker": worker})
    return [*lookups, {"tensor": "no such tensor", "mode": "GLOBAL", "step": 0}]
