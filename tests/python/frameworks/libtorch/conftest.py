"""Programs on the LibTorch that belongs to this Python's PyTorch, built once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.driver import program

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[4]
CONFIG = "Torch/TorchConfig.cmake"


def torch_prefix() -> Path | None:
    """Where CMake finds LibTorch: in pip's package, or that of Debian's libtorch-dev."""
    prefix = Path(torch.utils.cmake_prefix_path)
    if (prefix / CONFIG).is_file():
        return prefix
    return Path("/usr") if list(Path("/usr/lib").glob(f"*/cmake/{CONFIG}")) else None


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of the programs of tests/libtorch/project."""
    prefix = torch_prefix()
    if prefix is None:
        pytest.skip("LibTorch comes without its CMake files; install libtorch-dev")
    work = ROOT / "build" / f"libtorch-{torch.__version__.partition('+')[0]}"
    command = [ROOT / "tests/libtorch/run", program("smdebug").parents[1], work, prefix]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return work / "bin"
