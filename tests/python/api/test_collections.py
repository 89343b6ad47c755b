"""Collection and CollectionManager."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from smdebug import ReductionConfig, SaveConfig, SaveConfigMode, _core, modes
from smdebug.core.collection import Collection
from smdebug.core.collection_manager import CollectionManager
from smdebug.exceptions import SMDebugError, SMDebugTypeError, SMDebugValueError


@pytest.mark.parametrize("framework", _core.Framework)
def test_the_core_writes_and_reads_the_same_json(framework: _core.Framework) -> None:
    built_in = _core.built_in_collections(framework)
    assert built_in
    for text in built_in:
        assert Collection.from_json(text).to_json() == text
    collection = Collection(
        "custom",
        ["relu", "a{1,2}"],
        ["t:0", "a"],
        ReductionConfig(["min", "median"], ["max"], ["l1"], ["l2"], save_shape=True),
        SaveConfig({modes.TRAIN: SaveConfigMode(3, 1, 9, [4])}),
        save_histogram=False,
    )
    loaded = _core.parse_hook_config(
        json.dumps(
            {
                "CollectionConfigurations": [
                    {
                        "CollectionName": "custom",
                        "CollectionParameters": {
                            "include_regex": "relu,a{1,2}",
                            "tensor_names": "a,t:0",
                            "reductions": "min,median,l1,abs_max,abs_l2",
                            "save_shape": "true",
                            "save_histogram": "False",
                        },
                    }
                ]
            }
        ),
        framework,
    )
    collection.save_config = None
    assert loaded["collections"] == [collection.to_json()]


def test_a_collection_takes_patterns_however_nested() -> None:
    collection = Collection("c", ["a", ["b", ["c"]]])
    collection.include("d")
    collection.include(["e"])
    assert collection.include_regex == ["a", "b", "c", "d", "e"]
    collection.include_regex = "f"
    assert collection.include_regex == ["f"]
    assert Collection("c", ("x",)).include_regex == ["x"]
    collection.include({"h", "g"})
    assert collection.include_regex == ["f", "g", "h"]
    for wrong in (3, None, {"a": 1}, [None]):
        with pytest.raises(SMDebugTypeError):
            collection.include(wrong)  # type: ignore[arg-type]


def test_tensor_names_of_a_collection() -> None:
    collection = Collection("c", tensor_names=["b", "a"])
    collection.add_tensor_name("c")
    collection.remove_tensor_name("a")
    collection.remove_tensor_name("absent")
    assert collection.tensor_names == {"b", "c"}
    assert collection.has_tensor_name("b")
    assert not collection.has_tensor_name("a")
    assert Collection("c", tensor_names=("a",)).tensor_names == {"a"}
    for wrong in (3, b"a", [3], {"a": 1}):
        with pytest.raises(SMDebugTypeError, match="tensor_names"):
            collection.tensor_names = wrong  # type: ignore[assignment]


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_collection_needs_a_name(name: object) -> None:
    with pytest.raises(SMDebugValueError, match="name"):
        Collection(name)  # type: ignore[arg-type]


def test_a_collection_checks_its_configurations() -> None:
    with pytest.raises(SMDebugTypeError, match="reduction_config"):
        Collection("c", reduction_config=3)  # type: ignore[arg-type]
    with pytest.raises(SMDebugTypeError, match="save_config"):
        Collection("c", save_config=3)  # type: ignore[arg-type]
    by_mode = Collection("c", save_config={modes.TRAIN: SaveConfigMode(3)})
    assert by_mode.save_config == SaveConfig({modes.TRAIN: SaveConfigMode(3)})


def test_collection_json_equality_and_hash() -> None:
    collection = Collection("c", ["a"], {"t"}, ReductionConfig(["min"]), SaveConfig(), False)
    again = Collection.from_json(collection.to_json())
    assert again == collection
    assert hash(again) == hash("c")
    assert list(collection.to_json_dict()) == [
        "name",
        "include_regex",
        "tensor_names",
        "reduction_config",
        "save_config",
        "save_histogram",
    ]
    again.save_histogram = True
    assert again != collection
    assert collection != "c"
    assert Collection.from_dict({"name": "c"}) == Collection("c")
    refused: list[Any] = [None, [], {}]
    for wrong in refused:
        with pytest.raises(SMDebugValueError):
            Collection.from_dict(wrong)


def test_a_manager_gets_adds_and_creates() -> None:
    manager = CollectionManager()
    assert manager.get("a") is manager.get("a", create=False)
    with pytest.raises(SMDebugError, match="b has not been created"):
        manager.get("b", create=False)
    replacement = Collection("a", "x")
    manager.add(replacement)
    manager.add("b")
    assert manager.get_collections() == {"a": replacement, "b": Collection("b")}
    with pytest.raises(SMDebugTypeError):
        manager.add(3)  # type: ignore[arg-type]


def test_a_collections_file_is_written_and_read(tmp_path: Path) -> None:
    manager = CollectionManager()
    manager.add(Collection("a", "x", ["t"], ReductionConfig(["min"]), SaveConfig()))
    manager.set_num_workers(3)
    manager.export(str(tmp_path), "worker_0_collections.json")
    path = tmp_path / "collections/000000000/worker_0_collections.json"
    again = CollectionManager.load(str(path))
    assert again == manager
    assert again.get_num_workers() == 3
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_collections_file_may_not_have_other_keys() -> None:
    with pytest.raises(SMDebugValueError, match=r"extra.*collections and _meta"):
        CollectionManager.load_from_string('{"collections": {}, "extra": 1}')
    assert CollectionManager.load_from_string('{"collections": {}}').get_num_workers() == 1
