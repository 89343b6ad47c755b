"""Each example runs as a user runs it, and leaves what it promises."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import numpy as np
import pytest
from smdebug import modes
from smdebug.rules import check
from smdebug.trials import Trial, create_trial
from support.scripts import WarmPython, run_python

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/pytorch"

RunExample = Callable[..., Trial]


@pytest.fixture
def output() -> list[str]:
    """What the example printed."""
    return []


@pytest.fixture
def run_example(tmp_path: Path, python: WarmPython, output: list[str]) -> RunExample:
    """Runs an example to its end and opens its run."""

    def run(name: str, steps: int, *launcher: str, options: Sequence[str] = ()) -> Trial:
        folder = tmp_path / "run"
        given = ["--out-dir", str(folder), "--steps", str(steps), *options]
        called = [*launcher, str(EXAMPLES / name), *given]
        done = run_python(called, tmp_path) if launcher else python.run(called, tmp_path)
        assert done.returncode == 0, done.stdout
        output.append(done.stdout)
        assert (folder / "training_job_end.ts").exists()
        trial = create_trial(str(folder))
        for tensor in named_next(done.stdout):
            assert trial.has_tensor(tensor) or trial.has_tensor(f"scalar/{tensor}"), tensor
        return trial

    return run


def named_next(printed: str) -> list[str]:
    """The tensors that the example tells its reader to look at."""
    found = re.findall(r"^  smdebug (?:plot|show) \S+ (\S+)", printed, re.MULTILINE)
    assert found
    return [name.split(":")[0] for name in found]


def test_every_example_is_run_here() -> None:
    scripts = [path.name for path in EXAMPLES.glob("*.py") if "__main__" in path.read_text()]
    text = Path(__file__).read_text()
    assert scripts
    assert [name for name in scripts if f'"{name}"' not in text] == []


def test_mnist_cnn(run_example: RunExample) -> None:
    trial = run_example("mnist_cnn.py", 21)
    assert trial.steps() == [0, 10, 20]
    assert trial.tensor("scalar/accuracy").steps() == list(range(21))
    assert trial.tensor("Net_conv1.weight").value(20).shape == (8, 1, 3, 3)
    assert "gradient/Net_fc.bias" in trial.tensor_names(collection="gradients")
    assert trial.tensor_names(collection="losses") == ["CrossEntropyLoss_output_0"]


def test_transformer(run_example: RunExample) -> None:
    trial = run_example("transformer.py", 11)
    assert trial.steps() == [0, 5, 10]
    activations = trial.tensor_names(collection="activations")
    assert activations == [
        "blocks.0.self_attn_output_0",
        "blocks.0_output_0",
        "blocks.1.self_attn_output_0",
        "blocks.1_output_0",
    ]
    assert trial.tensor(activations[0]).steps() == [0, 10]
    gradient = trial.tensor("gradient/LanguageModel_words.weight")
    assert set(gradient.reduction_values(5)) == {("mean", True), ("max", True), ("l2", False)}


def test_custom_loop(run_example: RunExample) -> None:
    trial = run_example("custom_loop.py", 20)
    assert trial.steps(mode=modes.TRAIN) == [0, 10]
    assert trial.steps(mode=modes.EVAL) == [0]
    assert trial.tensor("scalar/train_loss").steps(mode=modes.TRAIN) == list(range(20))
    assert trial.tensor("mistakes").value(0, mode=modes.EVAL).shape == (128,)
    assert trial.tensor_names(collection="hidden") == [f"hidden_output_{i}" for i in range(4)]
    assert trial.tensor("gradient/Regressor_out.weight").steps(mode=modes.EVAL) == []


def sizes_of(trial: Trial, tensor: str) -> list[float]:
    gradient = trial.tensor(tensor)
    return [gradient.reduction_value(s, "mean", abs=True).item() for s in gradient.steps()]


def losses_of(trial: Trial) -> list[float]:
    values = trial.tensor("CrossEntropyLoss_output_0").values().values()
    return [value.item() for value in values]


def test_goes_wrong(run_example: RunExample) -> None:
    trial = run_example("goes_wrong.py", 101)
    assert trial.steps() == list(range(0, 101, 5))
    assert losses_of(trial) == pytest.approx([np.log(10)] * 21, abs=0.1)
    assert max(sizes_of(trial, "gradient/Net_hidden.0.weight")) < 1e-7
    (vanishing, loss) = check(trial.path, ["VanishingGradient", "LossNotDecreasing:robust=true"])
    assert vanishing["fired_steps"] == trial.steps()
    assert vanishing["findings"][0]["tensor"] == "gradient/Net_hidden.0.bias"
    assert loss["status"] == "IssuesFound"


def test_goes_wrong_no_more(run_example: RunExample, output: list[str]) -> None:
    trial = run_example("goes_wrong.py", 2000, options=["--fix"])
    assert "the digits are known" in output[0]
    assert losses_of(trial)[-1] < 0.5
    reports = check(
        trial.path, ["VanishingGradient", "ExplodingTensor", "LossNotDecreasing:robust=true"]
    )
    assert [report["status"] for report in reports] == ["NoIssuesFound"] * 3


@pytest.mark.parametrize("launcher", [[], ["-m", "torch.distributed.run", "--nproc-per-node=2"]])
def test_ddp(launcher: list[str], run_example: RunExample, output: list[str]) -> None:
    distributed = pytest.importorskip("torch.distributed")
    if not distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    trial = run_example("ddp.py", 11, *launcher)
    assert trial.workers() == ["worker_0", "worker_1"]
    assert trial.steps() == [0, 10]
    loss = trial.tensor("CrossEntropyLoss_output_0")
    assert loss.value(0, worker="worker_0") != loss.value(0, worker="worker_1")
    gradient = trial.tensor("gradient/DistributedDataParallel_module.weight")
    assert gradient.workers(10) == ["worker_0", "worker_1"]
    assert "step 10: losses" in output[0]
