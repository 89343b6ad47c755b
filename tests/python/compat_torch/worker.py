"""Trains and reads for a test: `python -m compat_torch.worker`, with one request a line.

A request is JSON, {"train": plan} or {"tell": run, "out": path}; the answer is a line with an
exit code. A plan runs in a forked process, so that each has a package without a past.
"""

# ruff: noqa: PTH123

import json
import os
import pickle
import sys
import traceback
from typing import Any, Callable

import torch
from compat_torch.tell import tell
from compat_torch.train import train


def in_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def answer(request: dict[str, Any]) -> int:
    if "train" in request:
        return in_child(lambda: train(request["train"]))

    def write() -> None:
        with open(request["out"], "wb") as file:
            pickle.dump(tell(request["tell"]), file)

    return in_child(write)


def warm_up() -> None:
    """Has PyTorch import here what it would import at the first step of each child."""
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1, momentum=0.9)
    weight.sum().backward()
    optimizer.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    warm_up()
    # smdebug 1.0 logs to standard output.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        print(answer(json.loads(line)), file=answers)
