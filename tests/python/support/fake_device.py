"""The fake device of tests/fake_device: builds it, loads it, and reads what it counts."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Callable

ROOT = Path(__file__).resolve().parents[3]
NAME = "pretend"

# Whoever asks for one of these waits until the device has come to it.
WAITS = (
    "device_to_host",
    "device_synchronisations",
    "stream_synchronisations",
    "event_synchronisations",
    "values",
)
TRANSFERS = ("device_to_host", "late_device_to_host")


class Counts(Mapping[str, int]):
    """Numbers by name, as they are when they are read."""

    def __init__(self, names: Callable[[int], bytes], read: Callable[[int], int]) -> None:
        self._numbers: dict[str, int] = {}
        while name := names(len(self._numbers)):
            self._numbers[name.decode()] = len(self._numbers)
        self._read = read

    def __getitem__(self, name: str) -> int:
        return self._read(self._numbers[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def waits(self) -> int:
        """How often a thread waited for the device."""
        return sum(self[name] for name in WAITS)

    @property
    def transfers(self) -> int:
        """How many copies came from the device."""
        return sum(self[name] for name in TRANSFERS)

    @property
    def asked(self) -> int:
        """The same, and what the device was asked for that nobody waited for."""
        ordered = ("event_queries", "event_records", "stream_waits")
        return self.waits + self["late_device_to_host"] + sum(self[name] for name in ordered)

    def now(self) -> dict[str, int]:
        """Those that are not 0."""
        return {name: number for name, number in self.items() if number}


class FakeDevice:
    """The device, loaded into this process."""

    name = NAME

    def __init__(self, library: ctypes.CDLL) -> None:
        library.fake_device_count_name.restype = ctypes.c_char_p
        library.fake_device_alive_name.restype = ctypes.c_char_p
        library.fake_device_count.restype = ctypes.c_int64
        library.fake_device_alive.restype = ctypes.c_int64
        self._library = library
        names = library.fake_device_count_name
        self.training = Counts(names, lambda i: int(library.fake_device_count(i, 1)))
        self.others = Counts(names, lambda i: int(library.fake_device_count(i, 0)))
        self.alive = Counts(
            library.fake_device_alive_name, lambda i: int(library.fake_device_alive(i))
        )

    def reset(self) -> None:
        """Counts from 0. The calling thread is the one that trains from now on."""
        self._library.fake_device_reset()

    @property
    def races(self) -> int:
        """Uses of memory on any thread that nothing put in order."""
        return self.training["races"] + self.others["races"]

    def hold(self, on: bool) -> None:
        """Whether late copies are kept from being carried out."""
        self._library.fake_device_hold(int(on))

    @contextmanager
    def held(self) -> Iterator[None]:
        """No late copy is carried out."""
        self.hold(True)
        try:
            yield
        finally:
            self.hold(False)


def unavailable() -> str | None:
    """Why there is no fake device with this Python's PyTorch."""
    import torch

    requirements = (ROOT / "tools/requirements/torch.txt").read_text().splitlines()
    pinned = next(line.partition("==")[2] for line in requirements if line.startswith("torch=="))
    version = torch.__version__.partition("+")[0]
    if version != pinned:
        return f"the fake device is made for PyTorch {pinned}, and this is {version}"
    return None


def build() -> Path:
    """The library, as it is to be."""
    import torch

    work = ROOT / "build" / f"fake-device-{torch.__version__.partition('+')[0]}"
    command = [str(ROOT / "tests/fake_device/run"), str(work), torch.utils.cmake_prefix_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the fake device cannot be built:\n{done.stdout}{done.stderr}")
    return work / "libfake_device.so"


@cache
def load() -> FakeDevice:
    """Builds it if need be. Call this before the first backward pass of the process."""
    import torch

    library = ctypes.CDLL(str(build()))
    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, _module())
    torch.utils.generate_methods_for_privateuse1_backend()
    return FakeDevice(library)


def _module() -> ModuleType:
    """`torch.pretend`: what PyTorch asks of the module of a device."""
    import torch

    def current_stream(device: object = None) -> torch.Stream:
        return torch.accelerator.current_stream(device)

    module = ModuleType(f"torch.{NAME}")
    members = {
        "_is_in_bad_fork": lambda: False,
        "current_device": torch._C._accelerator_getDeviceIndex,
        "current_stream": current_stream,
        "device_count": torch._C._accelerator_hooks_device_count,
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
        # Random numbers are those of the CPU.
        "get_rng_state": lambda device=None: torch.get_rng_state(),  # noqa: ARG005
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "manual_seed": lambda seed: None,  # noqa: ARG005
        "manual_seed_all": lambda seed: None,  # noqa: ARG005
        "set_device": lambda device: torch.accelerator.set_device_index(device),
        "set_rng_state": lambda state, device=None: torch.set_rng_state(state),  # noqa: ARG005
        "synchronize": lambda device=None: torch.accelerator.synchronize(device),
    }
    for name, member in members.items():
        setattr(module, name, member)
    return module
