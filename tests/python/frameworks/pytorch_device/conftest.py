"""Fixtures of the tests that train on the fake device.

They are apart from those of tests/python/frameworks/pytorch: with this device, all of a
process has an accelerator, and PyTorch must know it before the first backward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from support import fake_device
from support.fake_device import FakeDevice

torch = pytest.importorskip("torch")


@pytest.fixture(scope="session")
def loaded() -> FakeDevice:
    reason = fake_device.unavailable()
    if reason:
        pytest.skip(reason)
    return fake_device.load()


@pytest.fixture
def device(loaded: FakeDevice) -> Iterator[FakeDevice]:
    """Counting from 0; the test is what trains."""
    stream = torch.accelerator.current_stream()
    loaded.reset()
    yield loaded
    loaded.hold(False)
    torch.accelerator.set_stream(stream)


@pytest.fixture(autouse=True)
def _seeded(loaded: FakeDevice) -> None:  # noqa: ARG001
    torch.manual_seed(0)
    torch.set_num_threads(1)


@pytest.fixture
def framework() -> ModuleType:
    import smdebug.pytorch

    return smdebug.pytorch
