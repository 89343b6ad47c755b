"""What every hook promises besides what it saves: the process's hook, collections, folders."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from smdebug._hook import arrays  # noqa: E402
from smdebug.core.hook import BaseHook  # noqa: E402
from smdebug.core.logger import get_logger  # noqa: E402
from smdebug.exceptions import (  # noqa: E402
    SMDebugError,
    SMDebugRuntimeError,
    SMDebugTypeError,
    SMDebugValueError,
)
from support.log import logged  # noqa: E402
from support.torch_nets import Net, fit  # noqa: E402

EVERY = smd.SaveConfig(save_interval=1)


@pytest.fixture(autouse=True)
def _no_hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    torch.set_num_threads(1)
    monkeypatch.delenv("USE_SMDEBUG", raising=False)
    smd.del_hook()
    yield
    hook = smd.get_hook()
    if hook is not None:
        hook.close()
    smd.del_hook()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


def test_the_last_hook_made_is_the_process_s(run: Path) -> None:
    assert smd.get_hook() is None
    first = smd.Hook(str(run))
    second = smd.Hook(str(run.with_name("other")))
    assert smd.get_hook() is second
    smd.set_hook(first)
    assert smd.get_hook() is first
    smd.del_hook()
    assert smd.get_hook() is None
    second.close()
    first.close()


def test_the_constructor_takes_what_that_of_smdebug_1_0_takes_in_its_order() -> None:
    parameters = inspect.signature(smd.Hook).parameters.values()
    assert [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == [
        *("out_dir", "export_tensorboard", "tensorboard_dir", "dry_run", "reduction_config"),
        *("save_config", "include_regex", "include_collections", "save_all", "include_workers"),
    ]
    own = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    assert own == {"forwards_per_step", "rules", "scaled", "stop_on_rule"}


def test_what_is_no_hook_cannot_be_set() -> None:
    with pytest.raises(SMDebugTypeError):
        smd.set_hook("hook")  # type: ignore[arg-type]


def test_get_hook_makes_one_only_if_asked_and_configured(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = run.with_name("hook.json")
    monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", str(path))
    assert smd.get_hook(create_if_not_exists=True) is None
    path.write_text(f'{{"LocalPath": "{run}"}}')
    assert smd.get_hook() is None
    made = smd.get_hook(create_if_not_exists=True)
    assert isinstance(made, BaseHook)
    assert smd.get_hook(json_config_path="/does/not/matter", create_if_not_exists=True) is made
    assert made.out_dir == str(run)


@pytest.mark.parametrize("text", ["False", "no", "0", "off"])
def test_use_smdebug_switches_get_hook_off(
    text: str, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = smd.Hook(str(run))
    monkeypatch.setenv("USE_SMDEBUG", text)
    assert smd.get_hook() is None
    monkeypatch.setenv("USE_SMDEBUG", "true")
    assert smd.get_hook() is hook


def test_the_default_configuration(run: Path) -> None:
    assert smd.Hook(str(run)).has_default_hook_configuration()
    assert smd.Hook(str(run)).has_default_configuration()
    assert not smd.Hook(str(run), save_all=True).has_default_hook_configuration()
    assert not smd.Hook(str(run), include_regex=["x"]).has_default_hook_configuration()
    hook = smd.Hook(str(run), include_collections=["weights"])
    assert not hook.has_default_hook_configuration()
    assert hook.has_default_hook_configuration(["losses", "weights"])
    assert smd.Hook(str(run)).has_default_hook_configuration("losses")
    with pytest.raises(SMDebugTypeError, match="default_saved_collections: 5 is not allowed"):
        hook.has_default_hook_configuration(5)  # type: ignore[arg-type]


def test_a_collection_is_made_unless_told_not_to(run: Path) -> None:
    hook = smd.Hook(str(run))
    with pytest.raises(SMDebugError):
        hook.get_collection("mine", create=False)
    made = hook.get_collection("mine")
    assert hook.get_collection("mine", create=False) is made
    assert hook.get_collections()["mine"] is made
    other = smd.Collection("mine", include_regex=["x"])
    hook.add_collection(other)
    assert hook.get_collection("mine") is other


def test_only_collections_can_be_added(run: Path) -> None:
    with pytest.raises(SMDebugTypeError):
        smd.Hook(str(run)).add_collection("weights")  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["attribute", "object"])
def test_an_end_of_0_switches_a_default_collection_off(form: str, run: Path) -> None:
    hook = smd.Hook(str(run), save_config=EVERY, include_collections=["biases"])
    losses = hook.get_collection("losses")
    if form == "attribute":
        losses.save_config.end_step = 0  # type: ignore[union-attr]
    else:
        losses.save_config = smd.SaveConfig(end_step=0)
    fit(hook, Net(), 2)
    hook.close()
    trial = smd.create_trial(str(run))
    assert trial.tensor_names(collection="losses") == []
    assert trial.tensor("Net_fc.bias").steps() == [0, 1]
    assert EVERY.get_save_config(smd.modes.TRAIN).end_step is None


def test_the_schedule_of_a_collection_is_the_hook_s_until_it_is_changed(run: Path) -> None:
    hook = smd.Hook(str(run), save_config=smd.SaveConfig(save_interval=7))
    assert hook.get_collection("weights").save_config == smd.SaveConfig(save_interval=7)
    assert smd.Hook(str(run)).get_collection("weights").save_config == smd.SaveConfig()


def test_a_dry_run_writes_nothing(run: Path) -> None:
    hook = smd.Hook(str(run), save_all=True, save_config=EVERY, dry_run=True)
    fit(hook, Net(), 2)
    hook.save_scalar("x", 1)
    hook.close()
    assert not run.exists() or not any(path.is_file() for path in run.rglob("*"))


@pytest.mark.parametrize("given", ["export", "folder", "both", "neither"])
def test_where_tensorboard_files_go(given: str, run: Path) -> None:
    folder = run.with_name("tb")
    hook = smd.Hook(
        str(run),
        save_config=EVERY,
        export_tensorboard=given in ("export", "both"),
        tensorboard_dir=str(folder) if given in ("folder", "both") else None,
    )
    fit(hook, Net(), 1)
    hook.close()
    expected = {"export": run / "tensorboard", "neither": None}.get(given, folder)
    assert hook.tensorboard_dir == (str(expected) if expected else None)
    for place in (run / "tensorboard", folder):
        assert any(place.rglob("*.tfevents*")) == (place == expected)


@pytest.mark.parametrize("include_workers", ["one", "all"])
def test_include_workers_of_a_single_process(include_workers: str, run: Path) -> None:
    hook = smd.Hook(str(run), save_config=EVERY, include_workers=include_workers)
    fit(hook, Net(), 1)
    hook.close()
    assert smd.create_trial(str(run)).workers() == ["worker_0"]


def test_the_folder_is_needed() -> None:
    with pytest.raises(RuntimeError, match="required"):
        smd.Hook()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("file.py", r"out_dir .*file\.py: is a file, not a folder; give the path of a folder"),
        ("file.py/run", r"out_dir .*file\.py/run: lies in a file, not a folder"),
        ("/proc/nothing", r"out_dir /proc/nothing: the folder cannot be created \(.*\); give one"),
        ("", r"out_dir: '' is not allowed; expected the path of a folder"),
    ],
)
def test_a_folder_that_cannot_be_is_refused_in_plain_words(
    place: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file.py").touch()
    with pytest.raises((SMDebugRuntimeError, SMDebugValueError), match=said):
        smd.Hook(place)


@pytest.mark.parametrize("wrong", [1, 0, "yes", None])
def test_stop_on_rule_is_a_boolean(wrong: object, run: Path) -> None:
    with pytest.raises(SMDebugTypeError, match=r"stop_on_rule: .* True or False"):
        smd.Hook(run, rules=["VanishingGradient"], stop_on_rule=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", [None, []])
def test_stop_on_rule_needs_a_rule(rules: list[str] | None, run: Path) -> None:
    with pytest.raises(SMDebugValueError, match=r"stop_on_rule: .* rules names no rule"):
        smd.Hook(run, rules=rules, stop_on_rule=True)


def test_numbers_of_a_schedule_may_be_spelt_as_smdebug_1_took_them(run: Path) -> None:
    hook = smd.Hook(run, save_config=smd.SaveConfig(save_interval="10"))
    assert hook.save_config == smd.SaveConfig(save_interval=10)


def test_what_is_not_kept_of_an_array_is_said_once(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(get_logger(), "warning", told.append)
    arrays._say_once.cache_clear()
    hook = smd.Hook(run, save_all=True, save_config=smd.SaveConfig(save_interval=1))
    for _ in range(2):
        hook.save_tensor("words", np.array([["a"]]))
        hook.save_tensor("masked", np.ma.array([1.0, 2.0], mask=[False, True]))
        hook.save_tensor("whole", np.ma.array([1.0, 2.0]))
        hook.end_step()
    hook.close()
    assert [words.partition(":")[0] for words in told] == [
        "strings are saved as a list",
        "a masked array is saved without its mask, with the values that lie under it",
    ]


def test_a_setting_that_is_assigned_too_late_is_logged(run: str) -> None:
    hook = BaseHook(run)
    with logged() as lines:
        hook.save_all = True
        hook._begin_step()
        hook.save_config = smd.SaveConfig(save_interval=7)
        hook.stop_on_rule = False
    assert lines == ["save_config was assigned after the first step; it changes nothing"]
    hook.close()


def test_a_dry_run_has_no_use_for_rules(run: str) -> None:
    with logged() as lines:
        BaseHook(run, dry_run=True, rules=["VanishingGradient"]).close()
    assert lines == ["rules judge nothing with dry_run: nothing is saved for them"]
