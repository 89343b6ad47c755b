"""What the two hooks do differently on purpose, and that it is still so.

A difference that is gone should leave docs/compatibility.md.
"""

from __future__ import annotations

from pathlib import Path

from compat_torch.package import Package
from compat_torch.plans import EVERY, plan


def steps(package: Package, run: Path, tensor: str) -> list[int]:
    found: list[int] = package.tell(run)["tensors"][tensor]["steps"]["GLOBAL"]
    return found


def test_include_collections_may_be_one_name(
    reference: Package, own: Package, tmp_path: Path
) -> None:
    one_name = plan(include_collections="weights", save=EVERY)
    reference.train(one_name, tmp_path / "theirs")
    own.train(one_name, tmp_path / "ours")
    assert "Mlp_fc1.weight" not in reference.tell(tmp_path / "theirs")["names"]
    assert "Mlp_fc1.weight" in reference.tell(tmp_path / "ours")["names"]


def test_the_collection_all_is_all_tensors(
    reference: Package, own: Package, tmp_path: Path
) -> None:
    of_all = plan(include_collections=["all"], save=EVERY)
    everything = plan(save_all=True, save=EVERY)
    reference.train(of_all, tmp_path / "theirs")
    own.train(of_all, tmp_path / "ours")
    own.train(everything, tmp_path / "everything")
    names = reference.tell(tmp_path / "ours")["names"]
    assert "relu_output_0" not in reference.tell(tmp_path / "theirs")["names"]
    assert "relu_output_0" in names
    assert names == reference.tell(tmp_path / "everything")["names"]


def test_scalars_keep_the_step_at_which_they_were_saved(
    reference: Package, own: Package, tmp_path: Path
) -> None:
    idle = plan(save={"save_interval": 3}, scalars=["count"], phases=[[None, 7]])
    reference.train(idle, tmp_path / "theirs")
    own.train(idle, tmp_path / "ours")
    assert steps(reference, tmp_path / "theirs", "scalar/count") == [0, 3, 6]
    assert steps(own, tmp_path / "ours", "scalar/count") == [0, 1, 2, 3, 4, 5, 6]
    assert steps(reference, tmp_path / "ours", "scalar/count") == [0, 3, 6]
